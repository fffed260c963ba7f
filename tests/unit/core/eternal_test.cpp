// A store that needs no ttl, because it knows when a holder dies: leases without a deadline.
#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::test {
namespace {

class eternal_claim final : public seam::claim {
 public:
  eternal_claim(std::vector<call>& calls, const bool& broken) : calls_(calls), broken_(broken) {}
  task<seam::answer<seam::grant>> poll(io&, limit) override {
    calls_.push_back(call::poll);
    co_return seam::answer<seam::grant>::yes(seam::grant{1, 64, runtime::never});
  }
  task<runtime::wake> wakeup(io&, limit) override { co_return runtime::wake::signalled; }
  task<seam::answer<instant>> renew(io&, milliseconds, limit) override {
    calls_.push_back(call::renew);
    if (broken_) co_return seam::answer<instant>::unknown(seam::failure(errc::foreign, "replaced"));
    co_return seam::answer<instant>::yes(runtime::never);
  }
  task<seam::answer<seam::done>> release(io&, limit) override {
    calls_.push_back(call::release);
    co_return seam::answer<seam::done>::yes(seam::done());
  }

 private:
  std::vector<call>& calls_;
  const bool& broken_;
};

class eternal_store final : public seam::backend {
 public:
  std::unique_ptr<seam::claim> open(seam::claim_spec) override {
    return std::make_unique<eternal_claim>(calls, broken);
  }
  void when_in_doubt(std::function<void()> f) override { verify = std::move(f); }
  [[nodiscard]] guarantees promises() const noexcept override {
    return {.by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};
  }
  std::vector<call> calls;
  std::function<void()> verify;
  bool broken = false;
};

TEST(eternal_hold, is_held_without_a_deadline_or_a_renewal) {
  world w;
  runtime::executor user(w.user.poster(), [](const char*) {});
  eternal_store store;
  engine e(store, w.io, user, reporter(nullptr), {.patience = 5s, .burst = 16});
  e.start();
  runtime::nursery callers(w.io);
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

TEST(eternal_hold, is_looked_at_when_its_store_is_in_doubt_and_lost_if_that_cannot_be_mended) {
  world w;
  runtime::executor user(w.user.poster(), [](const char*) {});
  eternal_store store;
  engine e(store, w.io, user, reporter(nullptr), {.patience = 5s, .burst = 16});
  e.start();
  runtime::nursery callers(w.io);
  std::future<outcome> asked =
      holdfast::test::start(callers, e.acquire(w.io, request("a", {.ttl = 10s}, limit(runtime::never), false)));
  w.run();
  const auto lease = asked.get().lease;
  store.verify();
  w.run();
  EXPECT_EQ(store.calls, (std::vector{call::poll, call::renew}));
  EXPECT_TRUE(lease->held(w.io.now()));
  store.broken = true;
  store.verify();
  w.run();
  EXPECT_EQ(lease->state(), tenancy::phase::lost);
  e.end();
  w.run();
  EXPECT_EQ(e.tasks().running(), 0);
}

}  // namespace
}  // namespace holdfast::core::test
