#pragma once

namespace holdfast {

/// Bugs that the simulator must find. A run-time switch of one test build enables them; in the product seeded() is a
/// constant false, so the compiler removes them.
enum class bug {
  none,
  no_margin,                   // the deadline has no margin for clocks that run at different rates
  unknown_is_no,               // a poll without a reply counts as busy, and nothing is released
  unknown_is_yes,              // a renewal without a reply extends the deadline
  lost_comes_back,             // a renewal that completes after the deadline revives the lease
  silent_loss,                 // the deadline is not watched while a renewal is in flight
  renewal_after_release,       // a release neither waits for a renewal that is under way nor stops later ones
  loss_wakes_no_waiter,        // a loss does not wake the next local waiter
  fence_used_twice,            // a local hand-over passes on the same fence
  late_hand_over,              // a holding is handed over after its deadline
  stale_grant,                 // a grant that took longer than its ttl to arrive is accepted
  limit_leaks_the_claim,       // a caller that gives up leaves its claim in the queue
  failure_wakes_no_waiter,     // a caller that fails does not wake the next waiter
  new_owner_each_try,          // a poll without a reply is repeated under another id, so the orphan is never adopted
  late_renewer,                // the renewer is not woken for a renewal that is due before its current wake-up time
  no_back_off,                 // a store that does not answer is asked again at once
  unfenced_reads,              // the simulator's resource checks fences on writes only
  waiter_ignores_limit,        // a waiter in the local queue does not leave at its limit
  release_out_of_turn,         // a release does not wait for a renewal that is in flight
  bundle_in_any_order,         // several names are acquired in the order of the arguments
  bundle_forgets_what_it_has,  // while a caller waits for one of several names, the others are not renewed
  delay_forgotten,             // a loss does not start the lock delay
  downgrade_stays_in_queue,    // after a downgrade without a reply, the holding may go to a local writer
  short_limit_is_trouble,      // a limit that ends before the store has answered is reported as an error of the store

  // In the simulator's lease server.
  reader_beside_writer,      // a reader is admitted while a writer holds the lock
  writer_beside_readers,     // a writer is admitted while some readers still hold the lock
  permits_given_back_twice,  // a repeated release returns its permits again
  dead_keep_their_permits,   // an expired holder is removed, but its permits stay taken
  readers_with_own_fences,   // readers that hold the lock together have different fences
  gap_in_downgrade,          // a writer that becomes a reader releases the lock and acquires it again

  // In the Redis client.
  late_reply_to_another,  // the simulator's link gives the reply of a caller that gave up to the next caller
  deadline_from_reply,    // a lease is counted from the reply, not from the request
  deadline_from_push,     // a lease granted by a message is counted from its arrival
  sample_from_reply,      // the server's clock is compared with ours at the time of the reply, not of the request
  claim_ttl_forgotten,    // a message counts as a grant of the full ttl
  no_timer,               // a waiter waits for a message only, and never polls again by itself
  inbox_after_poll,       // a claim can receive messages only after its first poll
  noscript_is_no,         // a server that has forgotten a script counts as one that refuses
  stray_push_kept,        // a grant for a claim that has left is not released

  // In the scripts, as the simulated server runs them (tests/sim/lua_bugs.cpp).
  release_of_anybody,             // a release ends the lease of any owner
  no_adoption,                    // a poll does not recognize that its owner already holds the lock
  dead_not_skipped,               // a lock is handed to a waiter that is not subscribed
  fence_without_floor,            // without an earlier fence, fences begin at 1 instead of at the server's clock
  renew_creates,                  // a renewal acquires a free lock
  renewed_by_owner,               // a renewal extends a later grant that the client does not know
  place_lost_by_poll,             // a poll moves its claim to the end of the queue
  release_keeps_it,               // a release does not hand the lock on
  poll_shortens,                  // a late poll shortens a lease
  barging,                        // a free lock goes to the first caller that asks, though others wait
  keys_for_ever,                  // the last fence never expires
  readers_over_a_writer,          // a reader is admitted while a writer holds the lock
  writer_over_readers,            // the first reader that leaves hands the lock on while others hold it
  given_back_twice,               // a repeated release returns its permits again
  reap_forgets,                   // expired permits are removed, but stay counted
  fences_of_one_session_differ,   // readers that are admitted together get two fences
  downgrade_lets_go,              // a writer that becomes a reader leaves the lock free for others
  renewal_of_a_later_session,     // a late renewal of a reader extends the leases of later readers
  dead_writer_keeps_readers_out,  // a writer that died in the queue blocks the readers behind it
  dead_taker_keeps_others_out,    // a dead claim for many permits blocks the claims behind it
  readers_barge,                  // readers join those that hold the lock although a writer waits
  takers_barge,                   // a claim for few permits overtakes a claim for many
  holders_for_ever,               // the list of holders never expires
  downgrade_again_says_too_much,  // a repeated downgrade promises a ttl from now, but does not set it
  refusal_loses_permits,          // a refused claim removes dead holders without storing the number of free permits
  deaf_poll_leaves,               // a poll without a subscription loses its place, after the queue was served
  asks_the_next,                  // a renewal reports a revoke request that was for an earlier holder
  break_of_anybody,               // a break takes the lock from any holder, whatever the fence
  broken_and_still_in,            // readers whose lock is broken are notified, but stay in the list
  break_forgotten,                // a repeated call does not learn that it has already broken the lock

  // In failovers to a replica.
  replicas_not_minded,  // a grant counts, however few replicas have it
  doubt_forgotten,      // leases are not verified at the new primary
  lost_readers_joined,  // in the script: readers join earlier ones that may have left, with their old fence
  never_confirmed,      // in the script: readers that poll after a failover do not let others join them

  // In Redlock.
  half_is_a_majority,       // half of the servers count as a majority
  validity_from_the_reply,  // a lease is counted from the last reply of the majority, not from the request
  ttls_added_up,            // the lease is counted as twice its ttl
  fences_not_written_back,  // the highest fence in the replies is used, however few servers know it
  young_servers_vote,       // a server votes though it may have forgotten its earlier vote
  minority_makes_it_again,  // a renewal by a minority restores the lock at servers that have lost it
  holder_by_inbox,          // a holder is identified by its inbox, which differs at each server
  vote_taken_over,          // in the script: a server votes for every caller
  mend_takes_over,          // in the script: a lock is repaired though another owner has it at this server
  withdrawal_of_anybody,    // in the script: a withdrawal removes the vote of any owner
  taken_from_anybody,       // in the script: a break takes the vote of any owner
  mended_after_a_break,     // in the script: a holder gets back a vote that a break has taken

  // In cells, which keep numbers.
  new_id_each_try,       // a change without a reply is repeated under another id
  ids_forgotten,         // a repeated change does not recognize that it was made
  ended_cell_forgotten,  // a removed cell leaves no record, so it can be created twice
  held_before_the_look,  // a leader checks its lease before it reads the announcement, not after
  last = held_before_the_look,
};

#ifdef HOLDFAST_SEEDED_BUGS
inline bug seeded_bug = bug::none;
[[nodiscard]] inline bool seeded(bug b) noexcept { return seeded_bug == b; }
#else
[[nodiscard]] constexpr bool seeded(bug) noexcept { return false; }
#endif

}  // namespace holdfast
