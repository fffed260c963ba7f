// A checker that cannot fail proves nothing, so each condition is tested with histories that break it.
#include "chaos/checker.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "chaos/history.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::chaos {
namespace {

using kind = event::kind;

constexpr std::int64_t ms = 1'000'000, second = 1000 * ms, slack = second;
constexpr std::uint32_t one = 2, other = 4;  // parties of two processes

hold held(std::uint32_t party, std::int64_t called, std::int64_t granted, std::int64_t over, std::uint64_t fence) {
  return {.party = party,
          .ending = hold::end::released,
          .fence = fence,
          .ttl = second,
          .called = called,
          .granted = granted,
          .deadline = granted + 10 * second,
          .over = over};
}

hold reader(std::uint32_t party, std::int64_t granted, std::int64_t over, std::uint64_t fence) {
  hold h = held(party, granted - 1, granted, over, fence);
  h.lock = first_shared;
  h.part = 1;
  return h;
}

event said(kind what, std::uint32_t party, std::int64_t at, std::int64_t value = 0, std::int64_t deadline = 0) {
  return {.what = what, .party = party, .at = at, .fence = 1, .deadline = deadline, .value = value};
}

event wrong(bool begins, std::int64_t at) { return {.what = kind::fault, .yes = begins, .at = at, .value = 1}; }

TEST(fences, are_accepted_in_grant_order) {
  EXPECT_TRUE(fences_out_of_order({held(one, 0, 1, 5, 7), held(other, 2, 6, 9, 8)}, true).empty());
  EXPECT_TRUE(fences_out_of_order({reader(one, 1, 9, 7), reader(other, 2, 9, 7)}, true).empty());
}

TEST(fences, are_rejected_when_lower_or_repeated) {
  EXPECT_EQ(fences_out_of_order({held(one, 0, 1, 5, 8), held(other, 2, 6, 9, 7)}, true).size(), 1U);
  EXPECT_EQ(fences_out_of_order({held(one, 0, 1, 5, 8), held(other, 2, 6, 9, 7)}, false).size(), 1U);
  EXPECT_EQ(fences_out_of_order({held(one, 0, 1, 5, 8), held(other, 2, 6, 9, 8)}, false).size(), 1U);
}

TEST(fences, of_overlapping_holds_are_compared_only_if_exclusive) {
  const std::vector<hold> both = {held(one, 0, 4, 5, 8), held(other, 2, 6, 9, 7)};
  EXPECT_EQ(fences_out_of_order(both, true).size(), 1U);
  EXPECT_TRUE(fences_out_of_order(both, false).empty());
}

TEST(fences, are_rejected_when_lower_despite_a_long_wait) {
  const std::vector<hold> all = {held(one, 0, 1, 2, 9), held(other, 0, 3, 4, 5), held(one, 2, 6, 7, 8)};
  EXPECT_EQ(fences_out_of_order(all, false).size(), 1U);
}

TEST(fences, of_a_handed_over_block_count_from_its_grant) {
  const std::vector<hold> all = {held(one, 0, 10, 20, 100), held(other, 11, 12, 40, 200),
                                 held(one + 1, 15, 21, 30, 101)};
  EXPECT_TRUE(fences_out_of_order(all, false).empty())
      << "the store lost the lock, which the first holder does not know yet";
  EXPECT_FALSE(fences_out_of_order(all, true).empty());
  const std::vector<hold> later = {held(one, 0, 10, 20, 100), held(other, 11, 12, 40, 200),
                                   held(one + 1, 15, 21, 30, 150)};
  EXPECT_EQ(fences_out_of_order(later, false).size(), 1U) << "this is a separate grant";
}

event at_resource(kind what, std::uint64_t fence, std::int64_t value, bool yes = true) {
  return {.what = what, .yes = yes, .fence = fence, .value = value};
}

TEST(resource_check, accepts_updates_in_order_and_counts_rejected_ones) {
  resource_check l;
  EXPECT_TRUE(l.see(at_resource(kind::reads, 5, 0)).empty());
  EXPECT_TRUE(l.see(at_resource(kind::writes, 5, 1)).empty());
  EXPECT_TRUE(l.see(at_resource(kind::writes, 4, 1, false)).empty());
  EXPECT_EQ(l.updates(), 1U);
  EXPECT_EQ(l.refused(), 1U);
}

TEST(resource_check, finds_a_stale_fence_that_was_admitted) {
  resource_check l;
  EXPECT_TRUE(l.see(at_resource(kind::writes, 5, 1)).empty());
  EXPECT_EQ(l.see(at_resource(kind::reads, 4, 1)).size(), 1U);
}

TEST(resource_check, finds_a_lost_update_and_a_read_of_unwritten_data) {
  resource_check l;
  EXPECT_TRUE(l.see(at_resource(kind::writes, 5, 1)).empty());
  EXPECT_EQ(l.see(at_resource(kind::writes, 6, 1)).size(), 1U);
  EXPECT_EQ(l.see(at_resource(kind::reads, 6, 7)).size(), 1U);
}

TEST(resource_check, counts_lost_updates_if_no_fence_is_checked) {
  resource_check l;
  for (const std::int64_t value : {1, 2, 2, 3}) EXPECT_TRUE(l.see(at_resource(kind::pokes, 0, value)).empty());
  EXPECT_EQ(l.lost_unfenced(0), 1U);
}

TEST(overlap, of_two_holders_is_found_and_measured) {
  std::int64_t time = 0;
  EXPECT_TRUE(overlaps({held(one, 0, 1, 5, 1), held(other, 0, 5, 9, 2)}, time).empty());
  EXPECT_EQ(time, 0);
  EXPECT_EQ(overlaps({held(one, 0, 1, 6, 1), held(other, 0, 5, 9, 2)}, time).size(), 1U);
  EXPECT_EQ(time, 1);
}

TEST(overlap, ends_at_the_deadline_of_a_stopped_holder) {
  hold stopped = held(one, 0, 1, 9, 1);
  stopped.deadline = 4;
  std::int64_t time = 0;
  EXPECT_TRUE(overlaps({stopped, held(other, 0, 5, 9, 2)}, time).empty());
  stopped.deadline = 6;
  EXPECT_EQ(overlaps({stopped, held(other, 0, 5, 9, 2)}, time).size(), 1U);
}

TEST(overlap, of_a_short_hold_within_a_long_one_is_found) {
  std::int64_t time = 0;
  EXPECT_EQ(overlaps({held(one, 0, 1, 90, 1), held(other, 0, 5, 6, 2), held(other, 7, 8, 9, 3)}, time).size(), 2U);
}

TEST(overlap, is_allowed_among_readers_but_not_with_a_writer) {
  std::int64_t time = 0;
  hold writer = held(6, 0, 3, 4, 2);
  writer.lock = first_shared;
  EXPECT_TRUE(overlaps({reader(one, 1, 9, 1), reader(other, 2, 9, 1)}, time).empty());
  EXPECT_EQ(overlaps({reader(one, 1, 9, 1), reader(other, 2, 9, 1), writer}, time).size(), 2U);
}

TEST(overlap, of_permits_is_allowed_up_to_their_number) {
  hold two = held(one, 0, 1, 9, 1), more = held(other, 0, 2, 9, 2);
  two.lock = more.lock = naive_lock - 1;
  two.part = 2;
  more.part = 1;
  std::int64_t time = 0;
  EXPECT_TRUE(overlaps({two, more}, time).empty());
  more.part = 2;
  EXPECT_EQ(overlaps({two, more}, time).size(), 1U);
}

TEST(hand_off, slower_than_the_slack_without_faults_is_found) {
  const std::vector<hold> both = {held(one, 0, 1, 5, 1), held(other, 2, 6 + 2 * second, 9 * second, 2)};
  fault_times w;
  lateness all;
  EXPECT_EQ(late_hand_offs(both, w, slack, all).size(), 1U);
  EXPECT_EQ(all.at(1), 2 * second + 1);
  w.see(wrong(true, 100));
  w.see(wrong(false, 200));
  EXPECT_TRUE(late_hand_offs(both, w, slack, all).empty()) << "a fault was active meanwhile";
}

TEST(hand_off, is_not_counted_without_a_waiter) {
  lateness all;
  EXPECT_TRUE(
      late_hand_offs({held(one, 0, 1, 5, 1), held(other, 6, 9 * second, 9 * second, 2)}, fault_times(), slack, all)
          .empty());
  EXPECT_TRUE(all.all.empty());
}

TEST(orphan, that_outlives_its_ttl_is_found) {
  hold dead = held(one, 0, 1, 5, 1);
  dead.ending = hold::end::died;
  lateness all;
  EXPECT_TRUE(late_orphans({dead, held(other, 2, second + 9, 3 * second, 2)}, fault_times(), slack, all).empty());
  EXPECT_EQ(all.at(1), 4);
  EXPECT_EQ(late_orphans({dead, held(other, 2, 3 * second, 4 * second, 2)}, fault_times(), slack, all).size(), 1U);
  fault_times w;
  w.see(wrong(true, second));
  EXPECT_TRUE(late_orphans({dead, held(other, 2, 3 * second, 4 * second, 2)}, w, slack, all).empty());
}

TEST(fault_times, is_fault_free_only_some_time_after_a_fault) {
  fault_times w;
  w.see(wrong(true, 10));
  EXPECT_TRUE(w.fault_free(0, 9));
  EXPECT_FALSE(w.fault_free(11, 12));
  w.see(wrong(false, 20));
  EXPECT_FALSE(w.fault_free(21, 22));
  EXPECT_TRUE(w.fault_free(21 + second, 30 + second));
}

TEST(recovery_check, finds_a_failure_to_acquire_without_a_fault) {
  recovery_check a(slack);
  EXPECT_TRUE(a.see(said(kind::calls, one, 0, 0, 5 * second)).empty());
  EXPECT_TRUE(a.see(said(kind::busy, one, 5 * second)).empty()) << "a fault was active";
  EXPECT_TRUE(a.see(said(kind::healed, 0, 6 * second)).empty());
  EXPECT_TRUE(a.see(said(kind::calls, one, 8 * second, 0, 8 * second + ms)).empty());
  EXPECT_TRUE(a.see(said(kind::busy, one, 9 * second)).empty()) << "its limit was too short";
  EXPECT_TRUE(a.see(said(kind::calls, one, 9 * second, 0, 19 * second)).empty());
  EXPECT_EQ(a.see(said(kind::failed, one, 10 * second)).size(), 1U);
}

TEST(recovery_check, finds_a_stuck_lock_and_leftovers) {
  recovery_check a(slack);
  event probe = said(kind::probe, 0, 0);
  EXPECT_EQ(a.see(probe).size(), 1U);
  probe.yes = true;
  EXPECT_TRUE(a.see(probe).empty());
  EXPECT_EQ(a.see(said(kind::leftover, 0, 0)).size(), 1U);
}

TEST(recovery_check, finds_a_process_that_crashes_or_leaks) {
  recovery_check a(slack);
  event died = said(kind::died, one, 0, -6);
  EXPECT_EQ(a.see(died).size(), 1U);
  died.yes = true;
  EXPECT_TRUE(a.see(died).empty()) << "it was killed";
  EXPECT_TRUE(a.see(said(kind::stock, one, 0, 5, 1)).empty());
  EXPECT_TRUE(a.see(said(kind::stock, one, 1, 12, 3)).empty());
  EXPECT_EQ(a.see(said(kind::stock, one, 1, 120, 3)).size(), 1U);
  EXPECT_EQ(a.see(said(kind::stock, one, 1, 12, 30)).size(), 1U);
}

TEST(losses_of_leases, are_found_when_held_beyond_the_deadline_or_again) {
  losses l;
  EXPECT_TRUE(l.see(said(kind::granted, one, 1, 0, 9)).empty());
  EXPECT_TRUE(l.see(said(kind::believes, one, 8, 0, 9)).empty());
  EXPECT_EQ(l.see(said(kind::believes, one, 9, 0, 9)).size(), 1U);
  EXPECT_TRUE(l.see(said(kind::doubts, one, 9)).empty());
  EXPECT_EQ(l.see(said(kind::believes, one, 10, 0, 19)).size(), 1U);
  EXPECT_EQ(l.count(), 1U);
}

TEST(losses_of_leases, are_found_when_unreported_or_released_as_yes) {
  losses l;
  EXPECT_TRUE(l.see(said(kind::doubts, one, 9)).empty());
  EXPECT_EQ(l.see(said(kind::untold, one, 9)).size(), 1U);
  EXPECT_EQ(l.see(said(kind::released, one, 10, 0)).size(), 1U);
  EXPECT_TRUE(l.see(said(kind::released, one, 10, 1)).empty());
}

/// Checks an exit code of the program against what its command did.
violations judged(bool began, std::optional<std::int64_t> command, std::int64_t program) {
  runs r;
  (void)r.see(said(kind::runs, one, 0, 7));
  if (began) (void)r.see(said(kind::began, one, 1, 7));
  if (command) (void)r.see(said(kind::ended, one, 2, 7, *command));
  (void)r.see(said(kind::ran, one, 3, 7, program));
  return r.finish();
}

TEST(exit_codes, are_accepted_if_they_match_what_happened) {
  EXPECT_TRUE(judged(true, 3, 3).empty());
  EXPECT_TRUE(judged(false, {}, 75).empty());
  EXPECT_TRUE(judged(false, {}, 69).empty());
  EXPECT_TRUE(judged(true, {}, 79).empty());
  EXPECT_TRUE(judged(true, 0, 80).empty());
  EXPECT_TRUE(judged(true, {}, -9).empty()) << "it was killed";
}

TEST(exit_codes, are_rejected_if_they_do_not_match) {
  EXPECT_EQ(judged(false, {}, 0).size(), 1U) << "success without a command";
  EXPECT_EQ(judged(true, {}, 0).size(), 1U);
  EXPECT_EQ(judged(true, 3, 0).size(), 1U);
  EXPECT_EQ(judged(true, 0, 75).size(), 1U);
  EXPECT_EQ(judged(true, {}, 80).size(), 1U);
  EXPECT_EQ(judged(false, {}, 70).size(), 1U);
}

TEST(exit_codes, of_a_run_that_starts_its_command_twice_are_found) {
  runs r;
  EXPECT_TRUE(r.see(said(kind::began, one, 1, 7)).empty());
  EXPECT_EQ(r.see(said(kind::began, one, 2, 7)).size(), 1U);
}

/// A call, its grant, and its release.
void hold_it(checker& c, std::uint32_t party, std::int64_t from, std::int64_t to, std::uint64_t fence,
             std::uint8_t lock = 0) {
  for (const auto& [what, at] :
       {std::pair{kind::calls, from - 1}, {kind::granted, from}, {kind::releases, to}, {kind::released, to + 1}}) {
    event e = said(what, party, at, what == kind::calls ? 1000 : 0, from + 10 * second);
    e.fence = fence;
    e.lock = lock;
    c.see(e);
  }
}

TEST(checker, reports_an_overlap_if_exclusion_is_promised) {
  for (const bool promised : {true, false}) {
    checker c({.exclusion = promised}, slack);
    hold_it(c, one, 10, 20, 1);
    hold_it(c, other, 15, 30, 2);
    c.finish();
    EXPECT_EQ(c.found().size(), promised ? 1U : 0U);
  }
}

TEST(checker, finds_an_overlap_in_any_order_of_reports) {
  checker c({}, slack);
  hold_it(c, other, 15, 30, 2);
  hold_it(c, one, 10, 20, 1);
  c.look();
  EXPECT_EQ(c.found().size(), 1U);
  c.finish();
  EXPECT_EQ(c.found().size(), 1U) << "it is reported once";
}

TEST(checker, treats_the_death_of_a_process_as_the_end_of_its_holds) {
  checker c({}, slack);
  event got = said(kind::granted, one + 1, 10, 0, 50);
  c.see(got);
  event died = said(kind::died, one, 20);
  died.yes = true;
  c.see(died);
  hold_it(c, other, 30, 40, 2);
  c.finish();
  EXPECT_TRUE(c.found().empty());
}

TEST(checker, must_find_the_naive_lock_and_reports_it_apart) {
  checker fine({}, slack), two({}, slack), lost({}, slack);
  hold_it(fine, one, 10, 20, 0, naive_lock);
  hold_it(two, one, 10, 20, 0, naive_lock);
  hold_it(two, other, 15, 30, 0, naive_lock);
  for (const std::int64_t value : {1, 1}) {
    event e = at_resource(kind::pokes, 0, value);
    e.lock = naive_lock;
    lost.see(e);
  }
  for (checker* c : {&fine, &two, &lost}) c->finish();
  EXPECT_FALSE(fine.naive_failed());
  EXPECT_TRUE(two.naive_failed());
  EXPECT_TRUE(lost.naive_failed());
  EXPECT_TRUE(two.found().empty() && lost.found().empty());
}

TEST(history, is_read_as_it_was_written) {
  const test::temporary_folder folder;
  event e = said(kind::granted, one, 17, -3, 19);
  e.say("two words");
  {
    history h(folder.file("h"), {"redis_one", 7, {.exclusion = false, .fences_grow = true}});
    h.add(e);
  }
  heading head;
  std::vector<event> all;
  replay(folder.file("h"), [&](const heading& h) { head = h; }, [&](const event& each) { all.push_back(each); });
  EXPECT_EQ(head.topology, "redis_one");
  EXPECT_EQ(head.seed, 7U);
  EXPECT_FALSE(head.promised.exclusion);
  EXPECT_TRUE(head.promised.fences_grow);
  ASSERT_EQ(all.size(), 1U);
  std::ostringstream before, after;
  before << e;
  after << all[0];
  EXPECT_EQ(before.str(), after.str());
}

TEST(history, that_is_malformed_is_rejected) {
  const test::temporary_folder folder;
  const auto nothing = [](const auto&) {};
  EXPECT_THROW(replay(folder.file("none"), nothing, nothing), std::runtime_error);
  std::ofstream(folder.file("h")) << "chaos a 1 exclusion fences\nnonsense\n";
  EXPECT_THROW(replay(folder.file("h"), nothing, nothing), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::chaos
