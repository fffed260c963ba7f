// A store that needs no ttl, because it knows when a holder dies: leases without a deadline.
#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

class eternal_claim final : public storage::claim {
 public:
  eternal_claim(std::vector<call>& calls, const bool& broken) : calls_(calls), broken_(broken) {}
  task<storage::answer<storage::grant>> poll(io&, limit) override {
    calls_.push_back(call::poll);
    co_return storage::answer<storage::grant>::yes(storage::grant{1, 64, runtime::never});
  }
  task<runtime::wake> wakeup(io&, limit) override { co_return runtime::wake::signalled; }
  task<storage::answer<instant>> renew(io&, milliseconds, limit) override {
    calls_.push_back(call::renew);
    if (broken_) co_return storage::answer<instant>::unknown(storage::failure(errc::foreign, "replaced"));
    co_return storage::answer<instant>::yes(runtime::never);
  }
  task<storage::answer<storage::done>> release(io&, limit) override {
    calls_.push_back(call::release);
    co_return storage::answer<storage::done>::yes(storage::done());
  }

 private:
  std::vector<call>& calls_;
  const bool& broken_;
};

class eternal_store final : public storage::backend {
 public:
  std::unique_ptr<storage::claim> open(storage::claim_spec) override {
    return std::make_unique<eternal_claim>(calls, broken);
  }
  void start(storage::backend_events& e) override { events = &e; }
  [[nodiscard]] guarantees promises() const noexcept override {
    return {.by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};
  }
  std::vector<call> calls;
  storage::backend_events* events = nullptr;
  bool broken = false;
};

TEST(eternal_holding, is_held_without_a_deadline_or_a_renewal) {
  world w;
  runtime::executor user(w.user.poster(), [](const char*) {});
  eternal_store store;
  engine e(store, w.io, user, reporter(nullptr), {.patience = 5s, .burst = 16});
  e.start();
  runtime::task_group callers(w.io);
  const terms on{.ttl = 10s};
  std::future<outcome> first =
      holdfast::test::start(callers, e.acquire(w.io, request("a", on, limit(runtime::never), false)));
  std::future<outcome> second =
      holdfast::test::start(callers, e.acquire(w.io, request("a", on, limit(runtime::never), false)));
  w.run();
  const auto lease = first.get().lease;
  w.advance(24h * 365);
  EXPECT_TRUE(lease->held(w.io.now()));
  EXPECT_EQ(lease->of()->deadline(), runtime::never);
  EXPECT_EQ(store.calls, std::vector{call::poll});
  (void)holdfast::test::start(callers, e.release(w.io, lease, limit(runtime::never)));
  w.run();
  const auto next = second.get().lease;
  EXPECT_TRUE(next->held(w.io.now()));
  std::future<released> given = holdfast::test::start(callers, e.release(w.io, next, limit(runtime::never)));
  w.run();
  EXPECT_EQ(given.get(), released::yes);
  e.end();
  w.run();
  EXPECT_EQ(e.tasks().running(), 0);
}

/// One process with such a store.
class eternal_world : public testing::Test {
 protected:
  eternal_world() { engine_.start(); }
  ~eternal_world() override {
    engine_.end();
    world_.run();
    EXPECT_EQ(engine_.tasks().running(), 0);
    EXPECT_EQ(callers_.running(), 0);
  }
  std::shared_ptr<lease_state> take(const terms& on) {
    request wanted("a", on, limit(runtime::never), false);
    std::future<outcome> asked = holdfast::test::start(callers_, engine_.acquire(world_.io, std::move(wanted)));
    world_.run();
    return asked.get().lease;
  }
  /// Held until one instant before its max_hold, and not after it.
  void ends_at(const std::shared_ptr<lease_state>& lease, instant end) {
    const std::stop_token lost = lease->lost_token();
    EXPECT_EQ(lease->of()->deadline(), end);
    world_.advance(end - world_.io.now() - 1ns);
    EXPECT_TRUE(lease->held(world_.io.now()));
    EXPECT_FALSE(lost.stop_requested());
    world_.advance(1ns);
    EXPECT_FALSE(lease->held(world_.io.now()));
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(store_.calls.back(), call::release) << "the claim was not released";
    EXPECT_EQ(engine_.holdings(), 0u);
  }

  world world_;
  runtime::executor user_{world_.user.poster(), [](const char*) {}};
  eternal_store store_;
  engine engine_{store_, world_.io, user_, reporter(nullptr), {.patience = 5s, .burst = 16}};
  runtime::task_group callers_{world_.io};
};

TEST_F(eternal_world, ends_a_holding_at_its_max_hold) {
  const auto lease = take({.ttl = 10s, .max_hold = 1min});
  ends_at(lease, world_.io.now() + 1min);
}

TEST_F(eternal_world, ends_a_renewed_holding_at_its_max_hold) {
  const auto lease = take({.ttl = 10s, .max_hold = 1min});
  const instant end = world_.io.now() + 1min;
  world_.advance(1s);
  std::future<storage::answer<instant>> asked =
      holdfast::test::start(callers_, engine_.renew(world_.io, lease, 1h, limit(runtime::never)));
  world_.run();
  EXPECT_TRUE(asked.get().is_yes());
  ends_at(lease, end);
}

TEST_F(eternal_world, loses_a_holding_when_a_doubt_turns_out_permanent) {
  const auto lease = take({.ttl = 10s});
  store_.events->in_doubt(storage::no_shard);
  world_.run();
  EXPECT_EQ(store_.calls, (std::vector{call::poll, call::renew}));
  EXPECT_TRUE(lease->held(world_.io.now()));
  store_.broken = true;
  store_.events->in_doubt(storage::no_shard);
  world_.run();
  EXPECT_EQ(lease->state(), lease_state::phase::lost);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
