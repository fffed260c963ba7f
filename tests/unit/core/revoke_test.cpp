#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

class revoking : public engine_test {
 protected:
  /// Sends a request from another process.
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

TEST_F(revoking, triggers_only_the_revoke_token) {
  const auto lease = client_.take("a");
  const std::stop_token token = lease->revoke_token();
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(token.stop_requested());
  EXPECT_FALSE(lease->lost_token().stop_requested());
  EXPECT_TRUE(client_.held(lease));
  EXPECT_EQ(events(), 1u);
}

TEST_F(revoking, reports_the_store_error_when_the_limit_cuts_the_last_try) {
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

TEST_F(revoking, runs_user_code_on_the_executor_only) {
  const auto lease = client_.take("a");
  const std::stop_token token = lease->revoke_token();
  auto end =
      holdfast::test::start(callers_, other_.engine.revoke(world_.io, "a", "", 0, limit(world_.io.now() + 1min)));
  world_.io.run();
  EXPECT_FALSE(token.stop_requested());
  world_.user.run();
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(revoking, triggers_a_token_that_is_created_later) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(lease->revoke_token().stop_requested());
}

TEST_F(revoking, reports_a_repeated_request_once) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(events(), 1u);
}

TEST_F(revoking, finds_the_holding_among_many) {
  std::vector<std::shared_ptr<lease_state>> leases;
  for (int n = 0; n < 20; ++n) leases.push_back(client_.take("lock " + std::to_string(n)));
  EXPECT_TRUE(ask("lock 13"));
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(leases[static_cast<std::size_t>(n)]->revoke_token().stop_requested(), n == 13) << n;
  }
}

TEST_F(revoking, reaches_a_holder_whose_grant_is_still_on_the_way) {
  client_.store.hold_back(call::poll);
  std::future<outcome> asked = client_.ask("a");
  EXPECT_TRUE(ask("a")) << "the store has granted it";
  EXPECT_EQ(events(), 0u);
  client_.store.deliver();
  world_.run();
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(lease->revoke_token().stop_requested());
  EXPECT_EQ(events(), 1u);
}

TEST_F(revoking, by_force_ends_a_lease_long_before_its_renewal) {
  const auto lease = client_.take("a");
  const auto other = client_.take("b");
  EXPECT_TRUE(take_by_force("a", lease->fence()));
  EXPECT_TRUE(lease->lost_token().stop_requested());
  EXPECT_FALSE(client_.held(lease));
  EXPECT_TRUE(client_.held(other));
  EXPECT_EQ(events(), 0u);
}

TEST_F(revoking, by_force_reports_who_broke_the_lock) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(take_by_force("a", lease->fence()));
  const auto told = client_.seen->events(event::kind::lost);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].text.starts_with("broken by ") && told[0].text.ends_with(": it hangs")) << told[0].text;
}

TEST_F(revoking, by_force_reaches_a_holder_whose_grant_is_on_the_way) {
  client_.store.hold_back(call::poll);
  std::future<outcome> asked = client_.ask("a");
  EXPECT_TRUE(ask("a")) << "the store has granted it";
  EXPECT_TRUE(take_by_force("a", 1));
  client_.store.deliver();
  world_.run();
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(lease->lost_token().stop_requested());
}

TEST_F(revoking, forgets_requests_for_released_leases) {
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
  EXPECT_TRUE(other->revoke_token().stop_requested());
}

TEST_F(revoking, prevents_a_hand_over) {
  const auto lease = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_EQ(client_.store.count(call::release), 1);
  const auto then = client_.taken(next);
  EXPECT_NE(then->of(), lease->of());
  EXPECT_FALSE(then->revoke_token().stop_requested());
}

TEST_F(revoking, reaches_the_current_holder_after_a_hand_over) {
  const auto first = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  (void)client_.give(first);
  const auto second = client_.taken(next);
  ASSERT_EQ(second->of(), first->of());
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(second->revoke_token().stop_requested());
  EXPECT_FALSE(first->revoke_token().stop_requested());
}

TEST_F(revoking, with_a_fence_reaches_no_other_lease_of_the_holding) {
  const auto first = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  (void)client_.give(first);
  const auto second = client_.taken(next);
  ASSERT_EQ(second->of(), first->of());
  (void)ask("a", first->fence());
  EXPECT_FALSE(second->revoke_token().stop_requested());
  EXPECT_TRUE(ask("a", second->fence()));
  EXPECT_TRUE(second->revoke_token().stop_requested());
}

TEST_F(revoking, has_no_effect_on_a_lost_lease) {
  const auto lease = client_.take("a", {.on = {.ttl = 100ms}});
  world_.lose_all_requests();
  world_.advance(200ms);
  world_.heal();
  EXPECT_FALSE(ask("a"));
  EXPECT_FALSE(lease->revoke_token().stop_requested());
}

TEST_F(revoking, is_repeated_until_the_store_answers) {
  const auto lease = client_.take("a");
  world_.lose_all_requests();
  std::future<storage::answer<storage::done>> end = begin("a");
  world_.advance(6s);
  ASSERT_TRUE(is_ready(end));
  storage::answer<storage::done> answer = end.get();
  ASSERT_TRUE(answer.is_unknown()) << "patience has ended";
  EXPECT_EQ(answer.why().code, errc::unreachable);
}

TEST_F(revoking, fails_when_the_store_is_closed) {
  world_.lose_all_requests();
  std::future<storage::answer<storage::done>> end = begin("a");
  other_.engine.close();
  world_.run();
  ASSERT_TRUE(is_ready(end));
  storage::answer<storage::done> answer = end.get();
  ASSERT_TRUE(answer.is_unknown());
  EXPECT_EQ(answer.why().code, errc::closed);
}

class inspecting : public revoking {};

TEST_F(inspecting, is_refused_at_a_closed_store) {
  other_.engine.close();
  auto end = holdfast::test::start(callers_, other_.engine.inspect(world_.io, "a", limit(world_.io.now() + 1min)));
  world_.run();
  ASSERT_TRUE(is_ready(end));
  storage::answer<state> answer = end.get();
  ASSERT_TRUE(answer.is_unknown());
  EXPECT_EQ(answer.why().code, errc::closed);
}

TEST_F(inspecting, shows_at_most_a_thousand_holders) {
  std::vector<std::shared_ptr<lease_state>> readers;
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
