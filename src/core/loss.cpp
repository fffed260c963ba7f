#include <utility>

#include "core/engine.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

namespace {

constexpr std::string_view not_ours = "the store says that it is not ours any more";

/// When a store forgets everything, most losses are reported without looking up who broke the lock.
constexpr unsigned max_lookups_at_once = 16;
constexpr span longest_lookup = std::chrono::milliseconds(400);

/// True if the note has a fence of the block that came with our grant.
bool is_about(const state::note& broken, std::uint64_t fence) {
  constexpr std::uint64_t in_a_block = 64;
  return broken.fence > fence ? broken.fence - fence < in_a_block : fence - broken.fence < in_a_block;
}

std::string in_words(const state::note& broken) {
  return "broken by " + broken.by + (broken.reason.empty() ? "" : ": " + broken.reason);
}

}  // namespace

void engine::lose(const std::shared_ptr<holding>& h, instant now, loss how) {
  const std::shared_ptr<lease_state> lease = h->finish();
  if (!lease) return;
  renewer_.remove(*h);
  if (lease->end(lease_state::phase::lost)) {
    report_loss(*h, *lease, now, how);
    // What waits at the executor owns no claim, because it may wait there for longer than the store lives.
    std::optional<std::stop_source> source = lease->mark_lost();
    if (source) env_.user.post([s = std::move(*source)]() mutable { s.request_stop(); });
  }
  if (seeded(bug::loss_wakes_no_waiter)) return;
  if (how == loss::rejected && !h->claim->has_parts()) {
    wake_next(*h);
  } else if (h->on.delay > milliseconds(0) && !seeded(bug::delay_forgotten)) {
    try {
      spawn(retry_release_after_delay(h));
    } catch (...) {  // no memory even for that: the store drops it by itself
    }
    wake_next(*h);
  } else {
    release_in_background(h);  // the store may still think that it is ours
  }
}

/// The event of a rejected holding is sent after a lookup of who broke the lock. The lost_token does not wait for that.
void engine::report_loss(const holding& h, const lease_state& lease, instant now, loss how) noexcept {
  if (!env_.report.wanted()) return;
  const span held_for = now - lease.began();
  if (how == loss::rejected && !env_.ending.stop_requested()) {
    const bool few =
        ++lookups_ <= max_lookups_at_once;  // counted here: many may be lost before the first lookup begins
    try {
      if (few) return spawn(report_who_broke(h.name, lease.fence(), held_for));
    } catch (const std::bad_alloc&) {  // then without it
    }
    --lookups_;
  }
  constexpr std::string_view words[] = {"its time is over", "not renewed before its deadline", not_ours};
  env_.tell({.what = event::kind::lost,
             .name = h.name,
             .fence = lease.fence(),
             .took = held_for,
             .why = how == loss::unrenewed ? errc::unreachable : errc::lost,
             .text = words[static_cast<std::size_t>(how)]});
}

task<void> engine::report_who_broke(std::string name, std::uint64_t fence, span held_for) {
  std::string why(not_ours);
  try {
    const limit soon(runtime::later(env_.loop.now(), longest_lookup), env_.ending.get_token());
    storage::answer<state> is = co_await env_.backend.admin().inspect(env_.loop, name, soon);
    if (is.is_yes() && is.value().broken && is_about(*is.value().broken, fence)) why = in_words(*is.value().broken);
  } catch (const std::exception&) {  // the event only says less
  }
  --lookups_;
  env_.tell(
      {.what = event::kind::lost, .name = name, .fence = fence, .took = held_for, .why = errc::lost, .text = why});
}

}  // namespace holdfast::core
