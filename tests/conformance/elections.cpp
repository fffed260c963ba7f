// Elections: one leads, the others wait or watch.
#include "conformance/suite.hpp"
#include "support/eventually.hpp"

namespace holdfast::conformance {
namespace {

class elections : public suite {
 protected:
  ~elections() override { service_->heal(); }

  /// Waits until the client with this label leads, or without a label until there is no leader. Fences must grow.
  static bool shows(leaders& seen, const std::optional<std::string>& label) {
    std::uint64_t last = 0;
    for (;;) {
      const std::optional<leader> now = seen.current();
      if (now && now->fence < last) ADD_FAILURE() << "an older leader was seen after a newer one";
      if (now) last = now->fence;
      if (now.has_value() == label.has_value() && (!now || now->label == *label)) return true;
      if (!seen.wait_for_change(within(test::hang))) return false;
    }
  }
};
HOLDFAST_FOR(elections, stores_with({power::numbers}));

TEST_OF_STORES(elections, show_the_leader_and_its_absence_to_all) {
  leaders seen = election(client(1), "a").observe();
  EXPECT_FALSE(seen.current());
  leadership leads = election(client(0), "a", {.label = "first"}).campaign();
  EXPECT_TRUE(leads.held());
  EXPECT_TRUE(shows(seen, "first"));
  EXPECT_EQ(seen.current()->fence, leads.fence());
  leaders late = election(client(2), "a").observe();
  EXPECT_EQ(late.current(), seen.current());
  EXPECT_EQ(leads.resign(), released::yes);
  EXPECT_FALSE(leads.held());
  EXPECT_TRUE(shows(seen, std::nullopt));
  EXPECT_TRUE(shows(late, std::nullopt));
}

TEST_OF_STORES(elections, are_won_by_one_at_a_time_and_show_the_next_by_a_message) {
  election first(client(0), "a", {.label = "first"}), second(client(1), "a", {.label = "second"});
  leaders seen = election(client(2), "a").observe();
  std::uint64_t last = 0;
  for (int round = 0; round < 10; ++round) {
    election& wins = round % 2 == 0 ? first : second;
    election& waits = round % 2 == 0 ? second : first;
    const std::string label = round % 2 == 0 ? "first" : "second";
    leadership leads = wins.campaign();
    EXPECT_GT(leads.fence(), last);
    last = leads.fence();
    EXPECT_FALSE(waits.try_campaign(within(0s)));
    // This is sooner than the next poll of an observer.
    while (!seen.current() || seen.current()->label != label) ASSERT_TRUE(seen.wait_for_change(within(9s)));
    EXPECT_EQ(seen.current()->fence, leads.fence());
  }
  EXPECT_TRUE(shows(seen, std::nullopt));
}

TEST_OF_STORES(elections, pass_from_a_leader_that_resigns_to_a_waiter) {
  std::optional<leadership> leads = election(client(0), "a", {.label = "first"}).campaign();
  std::future<std::uint64_t> waiting = in_background([s = client(1)] {
    const leadership mine = election(s, "a", {.label = "second"}).campaign();
    return mine.held() ? mine.fence() : 0;
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  const std::uint64_t fence = leads->fence();
  leads.reset();
  EXPECT_GT(test::get(std::move(waiting)), fence);
}

TEST_OF_STORES(elections, show_for_as_long_as_the_leader_leads) {
  leaders seen = election(client(1), "a").observe();
  const leadership leads = election(client(0), "a", {.ttl = 2 * brief(), .label = "first"}).campaign();
  EXPECT_TRUE(shows(seen, "first"));
  EXPECT_FALSE(seen.wait_for_change(within(6 * brief()))) << "the announcement was not repeated";
  EXPECT_TRUE(leads.held());
}

TEST_OF_STORES(elections, among_callers_of_one_process_show_each_of_them) {
  election here(client(0), "a", {.label = "here"});
  leaders seen = here.observe();
  std::uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    leadership leads = here.campaign();
    EXPECT_GT(leads.fence(), last);
    last = leads.fence();
    while (!seen.current() || seen.current()->fence != last) ASSERT_TRUE(seen.wait_for_change(within(test::hang)));
  }
}

TEST_OF_STORES(elections, are_watched_until_the_limit_or_until_asked_to_stop) {
  leaders seen = election(client(0), "a").observe();
  EXPECT_FALSE(seen.wait_for_change(within(0s)));
  EXPECT_FALSE(seen.wait_for_change(within(200ms)));
  std::stop_source stop;
  std::future<bool> waiting = in_background([&] { return seen.wait_for_change(until(stop.get_token())); });
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(waiting)));
}

class elections_of_processes : public elections {};
HOLDFAST_FOR(elections_of_processes, stores_with({power::numbers, power::end_clients, power::stop_clients}));

TEST_OF_STORES(elections_of_processes, show_no_leader_when_the_leader_was_killed) {
  leaders seen = election(client(0), "a").observe();
  leadership leads = election(client(1), "a", {.ttl = 3 * brief(), .label = "dies"}).campaign();
  EXPECT_TRUE(shows(seen, "dies"));
  service_->kill_newest();
  EXPECT_TRUE(shows(seen, std::nullopt));
  const leadership next = election(client(0), "a", {.label = "next"}).campaign();
  EXPECT_GT(next.fence(), leads.fence());
  EXPECT_TRUE(shows(seen, "next"));
}

class lost_elections : public elections {};
HOLDFAST_FOR(lost_elections, stores_with({power::numbers, power::fall_silent}, guarantees::exclusion::lease));

TEST_OF_STORES(lost_elections, notify_the_leader_which_never_leads_again) {
  leadership leads = election(client(0), "a", {.ttl = brief(), .label = "first"}).campaign();
  const std::stop_token lost = leads.lost_token();
  service_->fall_silent();
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(leads.held());
  service_->heal();
  leaders seen = election(client(1), "a").observe();
  leadership next = election(client(1), "a", {.label = "next"}).campaign();
  EXPECT_TRUE(shows(seen, "next"));
  EXPECT_FALSE(leads.held());
  EXPECT_NE(leads.resign(), released::yes);
  EXPECT_FALSE(seen.wait_for_change(within(brief()))) << "a former leader withdrew the announcement of its successor";
}

class forgotten_elections : public elections {};
HOLDFAST_FOR(forgotten_elections, stores_with({power::numbers, power::lose_state}));

TEST_OF_STORES(forgotten_elections, are_lost_and_show_only_the_next_leader) {
  leadership leads = election(client(0), "a", {.ttl = brief(), .label = "first"}).campaign();
  const std::stop_token lost = leads.lost_token();
  service_->lose_state();
  EXPECT_TRUE(test::happens(lost));
  leadership next = election(client(1), "a", {.label = "next"}).campaign();
  leaders seen = election(client(2), "a").observe();
  EXPECT_TRUE(shows(seen, "next"));
}

}  // namespace
}  // namespace holdfast::conformance
