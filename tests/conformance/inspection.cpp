#include <algorithm>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class inspection : public suite {
 protected:
  [[nodiscard]] bool needs_a_ttl() const { return joined_store().promises.by == guarantees::exclusion::lease; }
  /// Returns the labels in sorted order.
  template <class Party>
  [[nodiscard]] static std::vector<std::string> labels(const std::vector<Party>& those) {
    std::vector<std::string> all;
    for (const Party& each : those) all.push_back(each.label);
    std::sort(all.begin(), all.end());
    return all;
  }
};
HOLDFAST_FOR(inspection, stores_with({}));

TEST_OF_STORES(inspection, of_an_unused_name_is_empty_and_leaves_no_keys) {
  const state is = client().inspect("a");
  EXPECT_EQ(is.holding, 0u);
  EXPECT_TRUE(is.holders.empty());
  EXPECT_EQ(is.waiting, 0u);
  EXPECT_TRUE(is.waiters.empty());
  EXPECT_EQ(is.permits, 0u);
}

TEST_OF_STORES(inspection, shows_the_holder_of_a_lock) {
  const lease held = client(0).acquire("a", {.ttl = 1h, .label = "the nightly report"});
  const state is = client(1).inspect("a");
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holding, 1u);
  const state::holder& who = is.holders.front();
  EXPECT_EQ(who.owner, held.owner());
  EXPECT_EQ(who.label, "the nightly report");
  EXPECT_EQ(who.fence, held.fence());
  EXPECT_FALSE(who.foreign);
  EXPECT_FALSE(who.reads);
  EXPECT_EQ(who.permits, 0u);
  EXPECT_EQ(who.left.has_value(), needs_a_ttl());
  if (who.left) {
    EXPECT_GT(*who.left, 1min);
    EXPECT_LE(*who.left, 1h);
  }
}

TEST_OF_STORES(inspection, shows_the_time_that_is_left_of_a_fixed_lease) {
  const lease held = client(0).acquire("a", {.ttl = 1h, .renew = false});
  const state is = client(1).inspect("a");
  ASSERT_EQ(is.holders.size(), 1u);
  ASSERT_TRUE(is.holders.front().left);
  EXPECT_LE(*is.holders.front().left, 1h);
}

TEST_OF_STORES(inspection, takes_frees_and_extends_nothing) {
  const lease held = client(0).acquire("a", {.ttl = brief(), .renew = false});
  for (int times = 0; times < 3; ++times) (void)client(1).inspect("a");
  EXPECT_TRUE(test::happens(held.lost_token())) << "inspections must not prolong it";
  while (client(1).inspect("a").holding != 0) {
  }
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(inspection, shows_waiters_in_their_order) {
  lease held = client(0).acquire("a", {.label = "holds"});
  const auto before = std::chrono::system_clock::now();
  EXPECT_FALSE(client(0).inspect("a").waiting_since);
  std::vector<std::future<bool>> waiting;
  for (std::size_t n = 1; n <= 3; ++n) {
    waiting.push_back(in_background([s = client(n), n]() mutable {
      const std::string label = "waits " + std::to_string(n);
      return s.try_acquire("a", within(test::hang), {.label = label}).has_value();
    }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  const state is = client(0).inspect("a");
  EXPECT_EQ(is.waiting, 3u);
  ASSERT_TRUE(is.waiting_since);
  EXPECT_GE(*is.waiting_since, before - 1s);  // by the clock of the store, to the second
  EXPECT_LE(*is.waiting_since, std::chrono::system_clock::now() + 1s);
  ASSERT_EQ(is.waiters.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(is.waiters[n].label, "waits " + std::to_string(n + 1));
    EXPECT_EQ(is.waiters[n].owner.size(), 32u);
  }
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holders.front().label, "holds");
  held.release();
  for (auto& each : waiting) EXPECT_TRUE(test::get(std::move(each)));
}

class inspection_of_some : public inspection {};
HOLDFAST_FOR(inspection_of_some, stores_with({power::share}));

TEST_OF_STORES(inspection_of_some, shows_all_readers_with_their_fence) {
  const lease one = client(0).acquire("a", {.label = "one", .shared = true});
  const lease two = client(1).acquire("a", {.label = "two", .shared = true});
  const state is = client(2).inspect("a");
  EXPECT_EQ(is.holding, 2u);
  EXPECT_EQ(labels(is.holders), (std::vector<std::string>{"one", "two"}));
  for (const state::holder& who : is.holders) {
    EXPECT_TRUE(who.reads);
    EXPECT_EQ(who.fence, one.fence());
    EXPECT_EQ(who.owner, who.label == "one" ? one.owner() : two.owner());
  }
  EXPECT_EQ(is.permits, 0u);
}

TEST_OF_STORES(inspection_of_some, shows_who_holds_how_many_permits_and_how_many_there_are) {
  semaphore here(client(0), "a", 10, {.label = "here"});
  semaphore there(client(1), "a", 10, {.label = "there"});
  const lease two = here.take(2);
  const lease seven = there.take(7);
  std::future<bool> waiting = in_background([s = client(2)] {
    return semaphore(s, "a", 10, {.label = "waits"}).try_take(within(test::hang), 5).has_value();
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  const state is = client(3).inspect("a");
  EXPECT_EQ(is.permits, 10u);
  EXPECT_EQ(is.holding, 2u);
  ASSERT_EQ(is.holders.size(), 2u);
  for (const state::holder& who : is.holders) {
    EXPECT_EQ(who.permits, who.label == "here" ? 2u : 7u);
    EXPECT_EQ(who.owner, who.label == "here" ? two.owner() : seven.owner());
    EXPECT_FALSE(who.reads);
  }
  ASSERT_EQ(is.waiters.size(), 1u);
  EXPECT_EQ(is.waiters.front().permits, 5u);
  there.resize(20);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_EQ(client(3).inspect("a").permits, 20u);
}

class inspection_in_vain : public suite {
 protected:
  ~inspection_in_vain() override { service_->heal(); }
};
HOLDFAST_FOR(inspection_in_vain, stores_with({power::fall_silent}));

TEST_OF_STORES(inspection_in_vain, of_a_store_that_gives_no_answer_is_an_error) {
  const store impatient = service_->open({.patience = 50ms});
  service_->fall_silent();
  try {
    (void)impatient.inspect("a");
    FAIL() << "no answer is not an answer";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unreachable);
    EXPECT_EQ(e.lock(), "a");
  }
}

class inspection_of_the_dead : public suite {};
HOLDFAST_FOR(inspection_of_the_dead, stores_with({power::end_clients}, guarantees::exclusion::kernel));

TEST_OF_STORES(inspection_of_the_dead, shows_no_holder) {
  const store looks = client(0);
  const lease held = client(1).acquire("a");
  service_->kill_newest();
  EXPECT_EQ(looks.inspect("a").holding, 0u);
  EXPECT_TRUE(is_free("a"));
}

}  // namespace
}  // namespace holdfast::conformance
