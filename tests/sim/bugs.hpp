#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "seeded_bugs.hpp"
#include "sim/run.hpp"

namespace holdfast::sim {

struct named_bug {
  std::string_view name;
  bug what;
  std::string_view breaks;  ///< the invariant that must detect it; others may also do so
  store_kind where = store_kind::lease;
  std::uint64_t after = 0;  ///< the seed from which a search for a rare bug starts
};

inline constexpr named_bug bugs[] = {
    {"no_margin", bug::no_margin, "I1"},
    {"unknown_is_no", bug::unknown_is_no, "I10"},
    {"unknown_is_yes", bug::unknown_is_yes, "I1"},
    {"lost_comes_back", bug::lost_comes_back, "I4"},
    {"silent_loss", bug::silent_loss, "I4"},
    {"renewal_after_release", bug::renewal_after_release, "I5"},
    {"loss_wakes_no_waiter", bug::loss_wakes_no_waiter, "I7"},
    {"fence_used_twice", bug::fence_used_twice, "I3"},
    {"late_hand_over", bug::late_hand_over, "I4"},
    {"stale_grant", bug::stale_grant, "I4"},
    {"limit_leaks_the_claim", bug::limit_leaks_the_claim, "I10"},
    {"failure_wakes_no_waiter", bug::failure_wakes_no_waiter, "I8"},
    {"new_owner_each_try", bug::new_owner_each_try, "I10"},
    {"late_renewer", bug::late_renewer, "I4"},
    {"no_back_off", bug::no_back_off, "I9"},
    {"unfenced_reads", bug::unfenced_reads, "I2"},
    {"waiter_ignores_limit", bug::waiter_ignores_limit, "I7"},
    {"release_out_of_turn", bug::release_out_of_turn, "I5"},
    {"bundle_in_any_order", bug::bundle_in_any_order, "I7"},
    {"bundle_forgets_what_it_has", bug::bundle_forgets_what_it_has, "I7"},
    {"delay_forgotten", bug::delay_forgotten, "I15"},
    {"downgrade_stays_in_queue", bug::downgrade_stays_in_queue, "I3"},
    {"short_limit_is_trouble", bug::short_limit_is_trouble, "I7"},
    {"reader_beside_writer", bug::reader_beside_writer, "I1"},
    {"writer_beside_readers", bug::writer_beside_readers, "I1"},
    {"permits_given_back_twice", bug::permits_given_back_twice, "I1"},
    {"dead_keep_their_permits", bug::dead_keep_their_permits, "I7"},
    {"readers_with_own_fences", bug::readers_with_own_fences, "I3"},
    {"gap_in_downgrade", bug::gap_in_downgrade, "I1"},
    {"late_reply_to_another", bug::late_reply_to_another, "I12", store_kind::redis},
    {"deadline_from_reply", bug::deadline_from_reply, "I1", store_kind::redis},
    {"deadline_from_push", bug::deadline_from_push, "I1", store_kind::redis},
    {"sample_from_reply", bug::sample_from_reply, "I1", store_kind::redis},
    {"claim_ttl_forgotten", bug::claim_ttl_forgotten, "I1", store_kind::redis},
    {"no_timer", bug::no_timer, "I7", store_kind::redis},
    {"inbox_after_poll", bug::inbox_after_poll, "I1", store_kind::redis},
    {"noscript_is_no", bug::noscript_is_no, "I12", store_kind::redis},
    {"stray_push_kept", bug::stray_push_kept, "I10", store_kind::redis},
    {"release_of_anybody", bug::release_of_anybody, "I6", store_kind::redis},
    {"no_adoption", bug::no_adoption, "I12", store_kind::redis},
    {"dead_not_skipped", bug::dead_not_skipped, "I11", store_kind::redis},
    {"fence_without_floor", bug::fence_without_floor, "I2", store_kind::redis},
    {"renew_creates", bug::renew_creates, "I6", store_kind::redis},
    {"renewed_by_owner", bug::renewed_by_owner, "I3", store_kind::redis},
    {"place_lost_by_poll", bug::place_lost_by_poll, "I11", store_kind::redis},
    {"release_keeps_it", bug::release_keeps_it, "I11", store_kind::redis},
    {"poll_shortens", bug::poll_shortens, "I6", store_kind::redis},
    {"barging", bug::barging, "I11", store_kind::redis},
    {"keys_for_ever", bug::keys_for_ever, "I8", store_kind::redis},
    {"readers_over_a_writer", bug::readers_over_a_writer, "I6", store_kind::redis},
    {"writer_over_readers", bug::writer_over_readers, "I6", store_kind::redis},
    {"given_back_twice", bug::given_back_twice, "I6", store_kind::redis},
    {"reap_forgets", bug::reap_forgets, "I6", store_kind::redis},
    {"fences_of_one_session_differ", bug::fences_of_one_session_differ, "I3", store_kind::redis},
    {"downgrade_lets_go", bug::downgrade_lets_go, "I6", store_kind::redis},
    {"renewal_of_a_later_session", bug::renewal_of_a_later_session, "I6", store_kind::redis},
    {"dead_writer_keeps_readers_out", bug::dead_writer_keeps_readers_out, "I11", store_kind::redis},
    {"dead_taker_keeps_others_out", bug::dead_taker_keeps_others_out, "I11", store_kind::redis},
    {"readers_barge", bug::readers_barge, "I11", store_kind::redis},
    {"takers_barge", bug::takers_barge, "I11", store_kind::redis},
    {"holders_for_ever", bug::holders_for_ever, "I8", store_kind::redis},
    {"downgrade_again_says_too_much", bug::downgrade_again_says_too_much, "I12", store_kind::redis},
    {"refusal_loses_permits", bug::refusal_loses_permits, "I6", store_kind::redis},
    {"deaf_poll_leaves", bug::deaf_poll_leaves, "I11", store_kind::redis},
    {"asks_the_next", bug::asks_the_next, "I12", store_kind::redis},
    {"break_of_anybody", bug::break_of_anybody, "I6", store_kind::redis},
    {"broken_and_still_in", bug::broken_and_still_in, "I6", store_kind::redis},
    {"break_forgotten", bug::break_forgotten, "I12", store_kind::redis},
    {"replicas_not_minded", bug::replicas_not_minded, "I17", store_kind::replicas},
    {"doubt_forgotten", bug::doubt_forgotten, "I16", store_kind::replicas},
    {"lost_readers_joined", bug::lost_readers_joined, "I3", store_kind::replicas},
    {"never_confirmed", bug::never_confirmed, "I11", store_kind::replicas},
    {"half_is_a_majority", bug::half_is_a_majority, "I1", store_kind::redlock},
    {"validity_from_the_reply", bug::validity_from_the_reply, "I1", store_kind::redlock},
    {"ttls_added_up", bug::ttls_added_up, "I1", store_kind::redlock},
    {"fences_not_written_back", bug::fences_not_written_back, "I3", store_kind::redlock},
    {"young_servers_vote", bug::young_servers_vote, "I1", store_kind::redlock},
    {"minority_makes_it_again", bug::minority_makes_it_again, "I12", store_kind::redlock},
    {"holder_by_inbox", bug::holder_by_inbox, "I7", store_kind::redlock},
    {"vote_taken_over", bug::vote_taken_over, "I6", store_kind::redlock},
    {"mend_takes_over", bug::mend_takes_over, "I6", store_kind::redlock},
    {"withdrawal_of_anybody", bug::withdrawal_of_anybody, "I6", store_kind::redlock},
    {"taken_from_anybody", bug::taken_from_anybody, "I6", store_kind::redlock},
    {"mended_after_a_break", bug::mended_after_a_break, "I12", store_kind::redlock, 4'100},
    {"new_id_each_try", bug::new_id_each_try, "I13", store_kind::numbers},
    {"ids_forgotten", bug::ids_forgotten, "I13", store_kind::numbers},
    {"ended_cell_forgotten", bug::ended_cell_forgotten, "I13", store_kind::numbers},
    {"held_before_the_look", bug::held_before_the_look, "I14", store_kind::numbers},
};

/// Returns nothing if there is no bug with this name.
[[nodiscard]] constexpr std::optional<bug> bug_called(std::string_view name) noexcept {
  for (const named_bug& b : bugs) {
    if (b.name == name) return b.what;
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
