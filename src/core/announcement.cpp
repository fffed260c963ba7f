#include "core/announcement.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/back_off.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;
using runtime::later;
using runtime::wake;
using storage::answer;
using storage::change;
using storage::reading;

namespace {

/// The last announcement of this client.
struct announced {
  std::uint64_t version = 0;
  milliseconds lasts{};
};

milliseconds lasting(const lease_state& lease, instant now) {
  const instant end = std::min(lease.of()->deadline(), later(now, lease.of()->ttl()));
  return std::max(std::chrono::ceil<milliseconds>(end - now), milliseconds(1));
}

/// Returns nothing if another client holds the lock by now, or the store did not answer.
task<std::optional<announced>> announce_once(io& i, reliable_cell& cell, std::shared_ptr<lease_state> lease,
                                             std::string label, std::optional<std::uint64_t> mine) {
  const std::stop_token lost = lease->lost_token();
  for (unsigned tries = 0;; ++tries) {
    if (!mine) {
      limit for_look(lease->of()->deadline(), lost);
      answer<reading> is = co_await cell.look(i, std::move(for_look));
      if (is.is_unknown()) co_return std::nullopt;
      if (is.value().there && is.value().number > lease->fence()) co_return std::nullopt;
      mine = is.value().version;
    }
    // This check comes after the look: while we hold the lock, no higher fence has been announced; and if one is from
    // now on, the cell has another version.
    const instant now = i.now();
    if (!lease->held(now) && !seeded(bug::held_before_the_look)) co_return std::nullopt;
    const milliseconds lasts = lasting(*lease, now);
    change wanted{.number = lease->fence(), .note = label, .ttl = lasts};
    wanted.id = {i.random(), i.random()};
    limit for_put(lease->of()->deadline(), lost);
    answer<std::uint64_t> made = co_await cell.put(i, *mine, wanted, std::move(for_put));
    if (made.is_unknown()) co_return std::nullopt;
    if (made.is_yes()) {
      const announced done{made.value(), lasts};
      co_return done;
    }
    mine.reset();
    limit pause(later(i.now(), back_off(i, std::min(tries, 3u))), lost);
    co_await sleep(i, std::move(pause));
  }
}

}  // namespace

void announcement::withdraw() noexcept {
  if (generation_ != runtime::fork_generation() || withdrawn_.exchange(true)) return;
  called_.set();
}

task<void> announce(io& loop, reliable_cell cell, std::shared_ptr<lease_state> lease, std::string label,
                    std::shared_ptr<announcement> a) {
  const std::stop_token lost = lease->lost_token();
  std::optional<announced> last;
  while (!a->withdrawn() && lease->held(loop.now())) {
    std::optional<std::uint64_t> mine;
    if (last) mine = last->version;
    // Without an answer, the last announcement may be in the cell or not. The next look shows which.
    last = co_await announce_once(loop, cell, lease, label, mine);
    a->begun().set();
    const span pause = last ? span(last->lasts) / 3 : span(lease->of()->ttl()) / 10;
    limit until_then(later(loop.now(), pause), lost);
    const wake why = co_await wait(loop, a->called(), until_then);
    if (why == wake::stopped) break;
  }
  a->begun().set();
  if (!last) co_return;  // what may be there expires by itself
  change removal{.number = lease->fence(), .note = label};
  removal.id = {loop.random(), loop.random()};
  limit soon(later(loop.now(), 1s));
  const answer<std::uint64_t> gone = co_await cell.put(loop, last->version, removal, std::move(soon));
  (void)gone;  // else it expires by itself
}

}  // namespace holdfast::core
