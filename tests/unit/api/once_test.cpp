#include "holdfast/once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "support/bounds.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class once_test : public testing::Test {
 protected:
  /// The value, and how often look() and make() were called.
  [[nodiscard]] std::optional<int> look() {
    ++looks_;
    return there_;
  }
  [[nodiscard]] int make() {
    ++makes_;
    there_ = 7;
    return *there_;
  }
  [[nodiscard]] std::optional<int> ask(const lock_options& on = {}) {
    return once(store_, "a", [&] { return look(); }, [&] { return make(); }, on);
  }
  [[nodiscard]] std::optional<int> ask(const limit& until) {
    return once(store_, "a", until, [&] { return look(); }, [&] { return make(); });
  }
  template <class F>
  [[nodiscard]] static std::error_code code_of(F f) {
    try {
      f();
    } catch (const lock_error& e) {
      return e.code();
    }
    return {};
  }

  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  store store_ = service_.open({.patience = 50ms, .observe = seen_});
  store other_ = service_.open();
  std::optional<int> there_;
  int looks_ = 0, makes_ = 0;
};

TEST_F(once_test, sends_nothing_when_look_finds_a_value) {
  there_ = 1;
  service_.lose_all_requests();
  EXPECT_EQ(ask(), 1);
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(makes_, 0);
  service_.heal();
}

TEST_F(once_test, looks_again_under_the_lock_before_it_makes) {
  EXPECT_EQ(ask(), 7);
  EXPECT_EQ(looks_, 2);
  EXPECT_EQ(makes_, 1);
  EXPECT_EQ(service_.server().size(), 0u) << "neither a lock nor a queue entry remains";
}

TEST_F(once_test, does_not_make_what_was_made_before_it_got_the_lock) {
  int calls = 0;
  const auto late = [&]() -> std::optional<int> {
    if (++calls == 1) return std::nullopt;
    return 3;  // it was made between the first look and the lock
  };
  EXPECT_EQ(once(store_, "a", late, [&] { return make(); }), 3);
  EXPECT_EQ(makes_, 0);
}

TEST_F(once_test, accepts_any_type_convertible_to_bool) {
  int number = 5;
  const int* const there = once(store_, "a", []() -> const int* { return nullptr; }, [&] { return &number; });
  EXPECT_EQ(there, &number);
  bool done = false;
  EXPECT_TRUE(once(store_, "a", [&] { return done; }, [&] { return done = true; }));
  EXPECT_TRUE(done);
}

TEST_F(once_test, passes_its_lease_to_a_maker_that_takes_one) {
  const auto fence = once(
      store_, "a", []() -> std::optional<std::uint64_t> { return std::nullopt; },
      [&](lease& mine) {
        EXPECT_TRUE(mine.held());
        EXPECT_EQ(mine.name(), "a");
        EXPECT_FALSE(other_.try_acquire("a"));
        return mine.fence();
      },
      {.ttl = 1h});
  EXPECT_GT(fence.value(), 0u);
  EXPECT_TRUE(other_.try_acquire("a"));
}

TEST_F(once_test, rethrows_from_look_and_make_and_unlocks) {
  EXPECT_THROW((void)once(
                   store_, "a", []() -> std::optional<int> { throw std::runtime_error("look"); }, [] { return 1; }),
               std::runtime_error);
  EXPECT_THROW((void)once(
                   store_, "a", [&] { return look(); }, []() -> int { throw std::logic_error("make"); }),
               std::logic_error);
  EXPECT_EQ(service_.server().size(), 0u);
  EXPECT_EQ(ask(), 7);
}

TEST_F(once_test, returns_empty_at_the_limit_or_when_stopped) {
  const lease held = other_.acquire("a");
  EXPECT_FALSE(ask(within(0s)));
  EXPECT_EQ(looks_, 1);
  EXPECT_FALSE(ask(within(5ms)));
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] { return ask(until(stop.get_token())); });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, 2));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(stopped)));
  EXPECT_EQ(makes_, 0);
}

TEST_F(once_test, makes_with_an_expired_limit_when_the_lock_is_free) {
  EXPECT_EQ(ask(within(0s)), 7);
  EXPECT_EQ(makes_, 1);
}

TEST_F(once_test, looks_after_the_wait_and_then_queues_for_the_lock) {
  std::optional<lease> held = other_.acquire("a");
  auto asked = std::async(std::launch::async, [&] { return ask(); });
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  held.reset();  // the previous holder has made nothing
  EXPECT_EQ(test::get(std::move(asked)), 7);
  EXPECT_EQ(looks_, 3) << "before the wait, after it, and under the lock";
  EXPECT_EQ(makes_, 1);
}

TEST_F(once_test, wakes_all_waiters_at_once_when_the_maker_is_done) {
  std::optional<lease> maker = other_.acquire("a");
  std::atomic<bool> made{false};
  test::threads all(5, [&](int) { EXPECT_TRUE(once(store_, "a", [&] { return made.load(); }, [] { return false; })); });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, 5));
  made = true;
  maker.reset();
  all.join();
  EXPECT_TRUE(seen_->comes(event::kind::acquired, 5));
  const auto in = seen_->events(event::kind::acquired);
  for (const auto& one : in) EXPECT_EQ(one.fence, in.front().fence) << "concurrent readers share a fence";
}

TEST_F(once_test, throws_when_the_store_does_not_answer) {
  service_.lose_all_requests();
  EXPECT_EQ(code_of([&] { (void)ask(); }), errc::unreachable);
  EXPECT_EQ(code_of([&] { (void)ask(within(5ms)); }), errc::unreachable);
  EXPECT_EQ(code_of([&] { (void)ask(within(0s)); }), errc::unreachable);
  EXPECT_EQ(makes_, 0);
  service_.heal();
}

TEST_F(once_test, prefers_its_limit_to_a_longer_patience) {
  store patient = service_.open({.patience = 1h});
  service_.lose_all_requests();
  EXPECT_EQ(code_of([&] { (void)once(patient, "a", within(5ms), [&] { return look(); }, [&] { return make(); }); }),
            errc::unreachable);
  service_.heal();
}

TEST_F(once_test, rejects_a_bad_name_or_option_before_it_looks) {
  const auto code = [&](std::string_view name, const lock_options& on) {
    return code_of([&] { (void)once(store_, name, [&] { return look(); }, [&] { return make(); }, on); });
  };
  EXPECT_EQ(code("", {}), errc::bad_name);
  EXPECT_EQ(code("a", {.ttl = 1ms}), errc::bad_option);
  EXPECT_EQ(code("a", {.shared = true}), errc::bad_option);
  EXPECT_EQ(looks_, 0);
}

TEST_F(once_test, throws_closed_when_the_store_is_closed) {
  const lease held = other_.acquire("a");
  auto asked = std::async(std::launch::async, [&] { return code_of([&] { (void)ask(); }); });
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  store_.close();
  EXPECT_EQ(test::get(std::move(asked)), errc::closed);
}

}  // namespace
}  // namespace holdfast
