#pragma once

namespace holdfast {

/// Bugs that the simulator must find. They are behind a run-time switch of one test build; in the product planted() is
/// a constant false, and nothing of them is compiled in.
enum class bug {
  none,
  no_margin,               // the deadline leaves no room for clocks that run at other rates
  unknown_is_no,           // a poll without an answer is taken for busy, and nothing is given back
  unknown_is_yes,          // a renewal without an answer extends the deadline
  lost_comes_back,         // a renewal that lands after the deadline revives the lease
  silent_loss,             // while a renewal is under way, nobody watches the deadline
  renewal_after_release,   // a release does not wait for its turn, and does not stop renewals
  loss_keeps_the_room,     // after a loss the next local caller is not called in
  fence_used_twice,        // a local hand-over passes the same fence on
  late_hand_over,          // a hold is passed on though its deadline is over
  stale_grant,             // a yes that took longer than its ttl is taken for good
  limit_keeps_the_place,   // a caller that gives up leaves its claim in the queue
  failure_keeps_the_room,  // a caller that fails does not call the next one in
  new_owner_each_try,      // a poll without an answer is repeated under another id: the orphan is never adopted
  late_keeper,             // the keeper is not woken for a date earlier than the one it sleeps until
  no_back_off,             // a silent store is asked again at once
  unfenced_reads,          // the resource checks fences on writes only; in the simulator's resource
  deaf_in_line,            // a caller in line does not mind its limit
  late_reply_to_another,   // whoever gives up leaves no gap: its reply goes to the next caller; in the simulator's link
  last = late_reply_to_another,
};

#ifdef HOLDFAST_PLANTED_BUGS
inline bug planted_bug = bug::none;
[[nodiscard]] inline bool planted(bug b) noexcept { return planted_bug == b; }
#else
[[nodiscard]] constexpr bool planted(bug) noexcept { return false; }
#endif

}  // namespace holdfast
