#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using close = engine_test;

errc code_of(const outcome& end) { return end.why ? end.why->code : errc{}; }

TEST_F(close, wakes_all_waiters) {
  client other(world_);
  const auto theirs = other.take("a"), theirs_too = other.take("b");
  std::stop_source unused;
  std::vector<std::future<outcome>> waiting;
  waiting.push_back(client_.ask("a"));
  waiting.push_back(client_.ask("a"));
  waiting.push_back(client_.ask("a", {.within = 1h}));
  waiting.push_back(client_.ask("b", {.stop = unused.get_token()}));
  waiting.push_back(client_.ask("b", {.within = 1h, .stop = unused.get_token()}));
  client_.engine.close();
  world_.run();
  for (auto& asked : waiting) EXPECT_EQ(code_of(client_.end_of(asked)), errc::closed);
  (void)other.give(theirs);
  (void)other.give(theirs_too);
  EXPECT_EQ(world_.server->size(), 0u) << "the woken waiters left the queue";
}

TEST_F(close, wakes_callers_that_wait_for_a_silent_store) {
  world_.lose_all_requests();
  std::future<outcome> asking = client_.ask("a");
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  std::future<outcome> backing_off = client_.ask("b");
  client_.engine.close();
  world_.run();
  EXPECT_EQ(code_of(client_.end_of(asking)), errc::closed);
  EXPECT_EQ(code_of(client_.end_of(backing_off)), errc::closed);
}

TEST_F(close, refuses_new_callers) {
  client_.engine.close();
  std::future<outcome> asked = client_.ask("a");
  EXPECT_EQ(code_of(client_.end_of(asked)), errc::closed);
  EXPECT_EQ(code_of(client_.look("a")), errc::closed);
  EXPECT_TRUE(client_.store.calls().empty());
}

TEST_F(close, leaves_leases_in_hand_valid_renewed_and_releasable) {
  const auto lease = client_.take("a");
  client_.engine.close();
  world_.advance(1min);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_TRUE(client_.renew(lease, 20s).get().is_yes());
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_EQ(world_.server->size(), 0u);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
