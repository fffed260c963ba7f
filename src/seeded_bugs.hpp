#pragma once

namespace holdfast {

/// Bugs that the simulator must find. They are behind a run-time switch of one test build; in the product seeded() is
/// a constant false, and nothing of them is compiled in.
enum class bug {
  none,
  no_margin,                   // the deadline leaves no room for clocks that run at other rates
  unknown_is_no,               // a poll without an answer is taken for busy, and nothing is released
  unknown_is_yes,              // a renewal without an answer extends the deadline
  lost_comes_back,             // a renewal that lands after the deadline revives the lease
  silent_loss,                 // while a renewal is under way, the deadline is not watched
  renewal_after_release,       // a release does not wait for its turn, and does not stop renewals
  loss_wakes_no_waiter,        // after a loss the next local waiter is not woken
  fence_used_twice,            // a local hand-over passes the same fence on
  late_hand_over,              // a holding is handed over though its deadline has passed
  stale_grant,                 // a yes that took longer than its ttl is taken for good
  limit_leaks_the_claim,       // a caller that gives up leaves its claim in the queue
  failure_wakes_no_waiter,     // a caller that fails does not wake the next waiter
  new_owner_each_try,          // a poll without an answer is repeated under another id: the orphan is never adopted
  late_renewer,                // the renewer is not woken for a date earlier than the one it sleeps until
  no_back_off,                 // a silent store is asked again at once
  unfenced_reads,              // the resource checks fences on writes only; in the simulator's resource
  waiter_ignores_limit,        // a waiter in the local queue does not leave at its limit
  release_out_of_turn,         // a release does not wait for a renewal that is under way
  bundle_in_any_order,         // several names are asked for in the order they were given in
  bundle_forgets_what_it_has,  // while one of several names is waited for, the others are not renewed
  delay_forgotten,             // a lock delay does not keep the lock closed after a loss
  downgrade_stays_in_queue,    // after a downgrade without an answer, the holding may go to a local writer
  short_limit_is_trouble,      // a limit that ends before the store has answered is reported as an error of the store

  // In the simulator's lease server.
  reader_beside_writer,      // a reader is let in while a writer holds
  writer_beside_readers,     // a writer is let in while readers are left
  permits_given_back_twice,  // a release that is repeated gives permits back again
  dead_keep_their_permits,   // what has run out is forgotten, but not what it had taken
  readers_with_own_fences,   // readers who are in together have a fence each
  gap_in_downgrade,          // a writer that becomes a reader lets go of the lock, and takes it again

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
  release_of_anybody,             // a release ends whatever is held
  no_adoption,                    // a poll does not see that the lock is its own
  dead_not_skipped,               // a lock is handed to one who hears nothing
  fence_without_floor,            // fences begin at 1 where there was none
  renew_creates,                  // a renewal takes the lock if it is free
  renewed_by_owner,               // a renewal takes a grant that its client does not know for its own
  place_lost_by_poll,             // asking again goes to the end of the queue
  release_keeps_it,               // a release does not hand on
  poll_shortens,                  // a poll that was under way for long cuts a lease short
  barging,                        // a lock that is free goes to whoever asks first, though others wait
  keys_for_ever,                  // the last fence is kept for ever
  readers_over_a_writer,          // a reader gets in though a writer holds
  writer_over_readers,            // the first reader that leaves hands the lock on, though others are left
  given_back_twice,               // a release that is repeated gives permits back again
  reap_forgets,                   // permits whose time is over are forgotten, and stay counted
  fences_of_one_session_differ,   // readers who are let in together have two fences
  downgrade_lets_go,              // a writer that becomes a reader leaves the lock free for others
  renewal_of_a_later_session,     // a reader's renewal that comes late lengthens what others hold now
  dead_writer_keeps_readers_out,  // a writer that died in the queue keeps the readers behind it waiting
  dead_taker_keeps_others_out,    // the same with one who wanted many permits
  readers_barge,                  // readers join those who are in, though a writer waits
  takers_barge,                   // who wants few permits overtakes who wants many
  holders_for_ever,               // the list of those who are in is kept for ever
  downgrade_again_says_too_much,  // a downgrade that is repeated promises a ttl from now, and does not give it
  refusal_loses_permits,          // who is turned away reaps the dead, and does not write down how many are left
  deaf_poll_leaves,               // who asks while it cannot be told loses its place, after the queue was served
  asks_the_next,                  // a renewal takes a request to a former holder for one to its own
  break_of_anybody,               // who breaks a lock takes it from whoever has it, whatever the fence
  broken_and_still_in,            // readers whose lock is broken are told so, and stay
  break_forgotten,                // what was broken is not known when the same call asks again

  // Where a replica takes over.
  replicas_not_minded,  // a grant counts, however few replicas have it
  doubt_forgotten,      // what is held is not verified at the new primary
  lost_readers_joined,  // in the script: readers join those of before, who may have left, with their old fence
  never_confirmed,      // the same: readers who ask do not let others join them again

  // Of Redlock.
  half_is_a_majority,       // half of the servers is enough
  validity_from_the_reply,  // a lease is counted from when enough have answered, not from the question
  ttls_added_up,            // each server that has the lock makes it last longer
  fences_not_written_back,  // the highest fence that was named is good, however few servers know it
  young_servers_vote,       // a server votes though it may have forgotten whom it voted for
  minority_makes_it_again,  // a renewal by some servers gives the lock to those that have it no more
  holder_by_inbox,          // a holder is known by its inbox, which is another at each server
  vote_taken_over,          // in the script: a server votes for whoever asks
  mend_takes_over,          // the same: a lock is mended though another has it here
  withdrawal_of_anybody,    // the same: a vote is taken back, whosever it is
  taken_from_anybody,       // the same: a vote is taken by force, whosever it is
  mended_after_a_break,     // the same: a holder gets a vote again that was taken from it by force

  // Of numbers.
  new_id_each_try,       // a change without an answer is asked for again as another one
  ids_forgotten,         // a change that was made is not known when it is asked for again
  ended_cell_forgotten,  // nothing is known of a cell that was removed, so that it can be created twice
  held_before_the_look,  // who leads looks whether it does before it reads what was said, not after
  last = held_before_the_look,
};

#ifdef HOLDFAST_SEEDED_BUGS
inline bug seeded_bug = bug::none;
[[nodiscard]] inline bool seeded(bug b) noexcept { return seeded_bug == b; }
#else
[[nodiscard]] constexpr bool seeded(bug) noexcept { return false; }
#endif

}  // namespace holdfast
