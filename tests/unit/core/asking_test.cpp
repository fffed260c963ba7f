#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

class asking : public engine_test {
 protected:
  /// Asks as another process would.
  std::future<storage::answer<storage::done>> begin(const std::string& name, std::uint64_t fence = 0) {
    auto end = holdfast::test::start(
        callers_, other_.engine.revoke(world_.io, name, "please", fence, limit(world_.io.now() + 1min)));
    world_.run();
    return end;
  }
  bool ask(const std::string& name, std::uint64_t fence = 0) {
    std::future<storage::answer<storage::done>> end = begin(name, fence);
    EXPECT_TRUE(is_ready(end));
    return end.get().is_yes();
  }
  bool take_by_force(const std::string& name, std::uint64_t fence) {
    storage::break_request what{.name = name, .fence = fence, .owner = {}, .reason = "it hangs"};
    auto end = holdfast::test::start(
        callers_, other_.engine.break_lock(world_.io, std::move(what), limit(world_.io.now() + 1min)));
    world_.run();
    EXPECT_TRUE(is_ready(end));
    return end.get().is_yes();
  }
  [[nodiscard]] std::size_t events() const { return client_.seen->events(event::kind::revoke_requested).size(); }

  client other_{world_};
  runtime::task_group callers_{world_.io};
};

TEST_F(asking, stops_the_token_and_nothing_else) {
  const auto lease = client_.take("a");
  const std::stop_token token = lease->asked_token();
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(token.stop_requested());
  EXPECT_FALSE(lease->lost_token().stop_requested());
  EXPECT_TRUE(client_.held(lease));
  EXPECT_EQ(events(), 1u);
}

TEST_F(asking, tells_what_the_store_said_though_the_limit_cuts_the_last_try_short) {
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  auto end = holdfast::test::start(callers_, other_.engine.inspect(world_.io, "a", limit(world_.io.now() + 3s)));
  world_.advance(1s);
  world_.lose_all_requests();
  world_.advance(2s);
  ASSERT_TRUE(is_ready(end));
  storage::answer<state> got = end.get();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().text, "loading");
}

TEST_F(asking, runs_user_code_on_the_executor_only) {
  const auto lease = client_.take("a");
  const std::stop_token token = lease->asked_token();
  auto end =
      holdfast::test::start(callers_, other_.engine.revoke(world_.io, "a", "", 0, limit(world_.io.now() + 1min)));
  world_.io.run();
  EXPECT_FALSE(token.stop_requested());
  world_.user.run();
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(asking, is_seen_in_a_token_that_is_made_later) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(lease->asked_token().stop_requested());
}

TEST_F(asking, twice_is_told_once) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(events(), 1u);
}

TEST_F(asking, one_of_many_finds_its_owner) {
  std::vector<std::shared_ptr<tenancy>> leases;
  for (int n = 0; n < 20; ++n) leases.push_back(client_.take("lock " + std::to_string(n)));
  EXPECT_TRUE(ask("lock 13"));
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(leases[static_cast<std::size_t>(n)]->asked_token().stop_requested(), n == 13) << n;
  }
}

TEST_F(asking, reaches_a_holder_that_does_not_know_yet_that_it_is_one) {
  client_.store.hold_back(call::poll);
  std::future<outcome> asked = client_.ask("a");
  EXPECT_TRUE(ask("a")) << "the store has granted it";
  EXPECT_EQ(events(), 0u);
  client_.store.deliver();
  world_.run();
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(lease->asked_token().stop_requested());
  EXPECT_EQ(events(), 1u);
}

TEST_F(asking, by_force_ends_a_lease_long_before_its_renewal) {
  const auto lease = client_.take("a");
  const auto other = client_.take("b");
  EXPECT_TRUE(take_by_force("a", lease->fence()));
  EXPECT_TRUE(lease->lost_token().stop_requested());
  EXPECT_FALSE(client_.held(lease));
  EXPECT_TRUE(client_.held(other));
  EXPECT_EQ(events(), 0u);
}

TEST_F(asking, by_force_is_told_with_who_did_it) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(take_by_force("a", lease->fence()));
  const auto told = client_.seen->events(event::kind::lost);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].text.starts_with("broken by ") && told[0].text.ends_with(": it hangs")) << told[0].text;
}

TEST_F(asking, by_force_reaches_a_holder_that_does_not_know_yet_that_it_is_one) {
  client_.store.hold_back(call::poll);
  std::future<outcome> asked = client_.ask("a");
  EXPECT_TRUE(ask("a")) << "the store has granted it";
  EXPECT_TRUE(take_by_force("a", 1));
  client_.store.deliver();
  world_.run();
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(lease->lost_token().stop_requested());
}

TEST_F(asking, for_those_who_are_gone_is_forgotten) {
  const auto other = client_.take("b");
  for (int times = 0; times < 200; ++times) {
    client_.store.hold_back(call::release);
    const auto lease = client_.take("a");
    EXPECT_TRUE(ask("a"));
    std::future<released> end = client_.give(lease);
    client_.store.deliver();
    world_.run();
    EXPECT_EQ(end.get(), released::yes);
  }
  EXPECT_EQ(events(), 200u);
  EXPECT_TRUE(ask("b"));
  EXPECT_TRUE(other->asked_token().stop_requested());
}

TEST_F(asking, keeps_the_hold_from_being_passed_on) {
  const auto lease = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_EQ(client_.store.count(call::release), 1);
  const auto then = client_.taken(next);
  EXPECT_NE(then->of(), lease->of());
  EXPECT_FALSE(then->asked_token().stop_requested());
}

TEST_F(asking, after_a_hand_over_reaches_the_one_who_holds_it_then) {
  const auto first = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  (void)client_.give(first);
  const auto second = client_.taken(next);
  ASSERT_EQ(second->of(), first->of());
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(second->asked_token().stop_requested());
  EXPECT_FALSE(first->asked_token().stop_requested());
}

TEST_F(asking, for_a_fence_does_not_reach_another_tenant_of_the_same_hold) {
  const auto first = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  (void)client_.give(first);
  const auto second = client_.taken(next);
  ASSERT_EQ(second->of(), first->of());
  (void)ask("a", first->fence());
  EXPECT_FALSE(second->asked_token().stop_requested());
  EXPECT_TRUE(ask("a", second->fence()));
  EXPECT_TRUE(second->asked_token().stop_requested());
}

TEST_F(asking, comes_too_late_for_what_is_lost) {
  const auto lease = client_.take("a", {.on = {.ttl = 100ms}});
  world_.lose_all_requests();
  world_.advance(200ms);
  world_.heal();
  EXPECT_FALSE(ask("a"));
  EXPECT_FALSE(lease->asked_token().stop_requested());
}

TEST_F(asking, is_repeated_until_the_store_answers) {
  const auto lease = client_.take("a");
  world_.lose_all_requests();
  std::future<storage::answer<storage::done>> end = begin("a");
  world_.advance(6s);
  ASSERT_TRUE(is_ready(end));
  storage::answer<storage::done> answer = end.get();
  ASSERT_TRUE(answer.is_unknown()) << "patience has an end";
  EXPECT_EQ(answer.why().code, errc::unreachable);
}

TEST_F(asking, ends_with_the_store) {
  world_.lose_all_requests();
  std::future<storage::answer<storage::done>> end = begin("a");
  other_.engine.close();
  world_.run();
  ASSERT_TRUE(is_ready(end));
  storage::answer<storage::done> answer = end.get();
  ASSERT_TRUE(answer.is_unknown());
  EXPECT_EQ(answer.why().code, errc::closed);
}

class looking : public asking {};

TEST_F(looking, at_a_closed_store_is_refused) {
  other_.engine.close();
  auto end = holdfast::test::start(callers_, other_.engine.inspect(world_.io, "a", limit(world_.io.now() + 1min)));
  world_.run();
  ASSERT_TRUE(is_ready(end));
  storage::answer<state> answer = end.get();
  ASSERT_TRUE(answer.is_unknown());
  EXPECT_EQ(answer.why().code, errc::closed);
}

TEST_F(looking, shows_at_most_a_thousand_of_those_who_hold) {
  std::vector<std::shared_ptr<tenancy>> readers;
  for (int n = 0; n < 1'005; ++n) {
    readers.push_back(client_.take("a", {.on = {.wants = storage::share::reader(), .ttl = 1h}}));
  }
  auto end = holdfast::test::start(callers_, other_.engine.inspect(world_.io, "a", limit(world_.io.now() + 1min)));
  world_.run();
  storage::answer<state> answer = end.get();
  ASSERT_TRUE(answer.is_yes());
  EXPECT_EQ(answer.value().holding, 1'005u);
  EXPECT_EQ(answer.value().holders.size(), state::most_listed);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
