#include "holdfast/observer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "holdfast/store.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using kind = event::kind;

TEST(observing, reports_the_events_of_a_lease_in_order) {
  const test::memory_service service;
  const auto seen = std::make_shared<test::recorder>();
  {
    store s = service.open({.observe = seen});
    lease first = s.acquire("a", {.ttl = 900ms});
    EXPECT_TRUE(seen->comes(kind::renewed));
    std::thread second([&] { (void)s.acquire("a").release(); });
    EXPECT_TRUE(seen->comes(kind::waiting));
    EXPECT_EQ(first.release(), released::yes);
    second.join();
    lease third = s.acquire("a", {.ttl = 20ms, .renew = false});
    EXPECT_TRUE(seen->comes(kind::lost));
  }
  std::vector<kind> kinds = seen->kinds();
  std::erase(kinds, kind::renewed);
  EXPECT_EQ(kinds, (std::vector{kind::acquired, kind::waiting, kind::released, kind::acquired, kind::released,
                                kind::acquired, kind::lost}));
  EXPECT_EQ(seen->events(kind::acquired)[0].name, "a");
  EXPECT_EQ(seen->events(kind::acquired)[0].fence, seen->events(kind::released)[0].fence);
  EXPECT_GT(seen->events(kind::acquired)[1].took, 0ns);
  EXPECT_FALSE(seen->events(kind::lost)[0].text.empty());
}

TEST(observing, reports_all_events_before_the_store_is_destroyed) {
  const auto seen = std::make_shared<test::recorder>();
  {
    store s = open("memory:", {.observe = seen});
    for (int k = 0; k < 100; ++k) (void)s.acquire("a").release();
  }
  EXPECT_EQ(seen->events().size(), 200u);
  EXPECT_EQ(seen.use_count(), 1);
}

/// The release of one holder is reported before the acquisition of the next, on whatever threads they are.
class in_order final : public observer {
 public:
  void on(const event& e) noexcept override {
    if (e.what == kind::acquired && holder_.exchange(e.fence) != 0) ++wrong;
    if (e.what == kind::released && holder_.exchange(0) != e.fence) ++wrong;
  }
  std::atomic<int> wrong{0};

 private:
  std::atomic<std::uint64_t> holder_{0};
};

TEST(observing, reports_a_release_before_the_next_acquisition) {
  const auto seen = std::make_shared<in_order>();
  {
    store s = open("memory:", {.observe = seen});
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 1'000; ++k) (void)s.acquire("a").release();
    });
  }
  EXPECT_EQ(seen->wrong, 0);
}

/// An observer that calls the library.
class curious final : public observer {
 public:
  void on(const event& e) noexcept override {
    if (e.what != kind::acquired || busy_with_it_.exchange(true)) return;
    try {
      looked = !of->try_acquire("a").has_value();
    } catch (...) {
    }
  }
  store* of = nullptr;
  std::atomic<bool> looked{false};

 private:
  std::atomic<bool> busy_with_it_{false};
};

TEST(observing, may_use_the_store) {
  const auto seen = std::make_shared<curious>();
  store s = open("memory:", {.observe = seen});
  seen->of = &s;
  lease held = s.acquire("a");
  const lease other = s.acquire("b");
  while (!seen->looked) std::this_thread::yield();
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast
