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
  release_out_of_turn,     // a release does not wait for a renewal that is under way

  // On the way to Redis.
  late_reply_to_another,  // whoever gives up leaves no gap: its reply goes to the next caller; in the simulator's link
  deadline_from_reply,    // a lease is counted from the reply, not from the request
  deadline_from_push,     // a lease that was granted by a message is counted from its arrival
  sample_from_reply,      // the server's clock is compared with ours when its reply comes, not when we asked
  claim_ttl_forgotten,    // a message is taken for a grant of the full ttl
  no_timer,               // who waits for a message waits for nothing else
  inbox_after_poll,       // a claim can be told only after its first poll
  noscript_is_no,         // a server that has forgotten a script is taken for one that says no
  stray_push_kept,        // a grant for one who has left is not given back

  // In the scripts, as the simulated server runs them (tests/sim/lua_bugs.cpp).
  release_of_anybody,   // a release ends whatever is held
  no_adoption,          // a poll does not see that the lock is its own
  dead_not_skipped,     // a lock is handed to one who hears nothing
  fence_without_floor,  // fences begin at 1 where there was none
  renew_creates,        // a renewal takes the lock if it is free
  place_lost_by_poll,   // asking again goes to the end of the queue
  release_keeps_it,     // a release does not hand on
  poll_shortens,        // a poll that was under way for long cuts a lease short
  barging,              // a lock that is free goes to whoever asks first, though others wait
  keys_for_ever,        // the last fence is kept for ever
  last = keys_for_ever,
};

#ifdef HOLDFAST_PLANTED_BUGS
inline bug planted_bug = bug::none;
[[nodiscard]] inline bool planted(bug b) noexcept { return planted_bug == b; }
#else
[[nodiscard]] constexpr bool planted(bug) noexcept { return false; }
#endif

}  // namespace holdfast
