// A store that needs no ttl, because it knows when a holder dies: leases without a deadline.
#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::test {
namespace {

class eternal_claim final : public seam::claim {
 public:
  explicit eternal_claim(std::vector<call>& calls) : calls_(calls) {}
  task<seam::answer<seam::grant>> poll(io&, limit) override {
    calls_.push_back(call::poll);
    co_return seam::answer<seam::grant>::yes(seam::grant{1, 64, runtime::never});
  }
  task<runtime::wake> wakeup(io&, limit) override { co_return runtime::wake::signalled; }
  task<seam::answer<instant>> renew(io&, milliseconds, limit) override {
    calls_.push_back(call::renew);
    co_return seam::answer<instant>::yes(runtime::never);
  }
  task<seam::answer<seam::done>> release(io&, limit) override {
    calls_.push_back(call::release);
    co_return seam::answer<seam::done>::yes(seam::done());
  }

 private:
  std::vector<call>& calls_;
};

class eternal_store final : public seam::backend {
 public:
  std::unique_ptr<seam::claim> open(seam::claim_spec) override { return std::make_unique<eternal_claim>(calls); }
  [[nodiscard]] guarantees promises() const noexcept override { return {}; }
  std::vector<call> calls;
};

TEST(eternal_hold, is_held_without_a_deadline_a_keeper_or_a_renewal) {
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
  EXPECT_EQ(e.kept(), 0u);
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

}  // namespace
}  // namespace holdfast::core::test
