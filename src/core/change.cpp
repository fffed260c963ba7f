#include <algorithm>
#include <mutex>

#include "core/cut.hpp"
#include "core/engine.hpp"
#include "core/insist.hpp"
#include "core/reason.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

task<storage::answer<instant>> engine::downgrade(io& i, std::shared_ptr<tenancy> lease, limit l) {
  const std::shared_ptr<hold> h = lease->of();
  const instant last = std::min(h->deadline(), last_try(i, l, settings_.patience));
  const limit until(last, l.stop());
  storage::answer<instant> answer =
      storage::answer<instant>::unknown(storage::failure(errc::unreachable, "a renewal is still under way"));
  bool mine = h->mutex.try_lock();
  if (!mine) mine = co_await h->mutex.try_lock_until(i, until);
  if (!mine) co_return answer;
  const std::lock_guard ours(h->mutex, std::adopt_lock);
  reason why_not;
  for (unsigned tries = 0;; ++tries) {
    if (!lease->held(i.now())) co_return storage::answer<instant>::no();
    // Before it is answered, if ever: from now on this may be a reader's place, which is not handed to a local writer.
    if (!seeded(bug::downgrade_keeps_the_room)) call_next(*h);
    answer = co_await h->claim->downgrade(i, lease->fence(), h->ttl(), until);
    const instant now = i.now();
    silence_.hear(answer, now);
    if (!answer.is_unknown()) break;
    why_not.settle(answer, now >= last);
    if (answer.why().permanent() || now >= last) break;
    const wake why = co_await sleep(i, limit(std::min(last, later(now, back_off(i, tries))), l.stop()));
    if (why == wake::stopped) break;
  }
  if (answer.is_no()) lose(h, i.now(), loss::taken);
  if (answer.is_yes() && h->extend(answer.value(), i.now())) care_at(*h, next_care(*h, i.now()));
  co_return answer;
}

task<storage::answer<storage::done>> engine::resize(io& i, std::string name, std::uint32_t permits, limit l) {
  const cut until(l, closing_.get_token());
  const auto ask = [&](const limit& one) { return backend_.admin().resize(i, name, permits, one); };
  storage::answer<storage::done> answer = storage::answer<storage::done>::unknown(storage::failure(errc::closed, ""));
  if (!closing_.stop_requested()) answer = co_await insist<storage::done>(i, until.get(), settings_.patience, ask);
  silence_.hear(answer, i.now());
  co_return answer;
}

}  // namespace holdfast::core
