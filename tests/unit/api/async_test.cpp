#include "holdfast/async.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "holdfast/store.hpp"
#include "runtime/guarded.hpp"
#include "runtime/queue_thread.hpp"
#include "support/bounds.hpp"
#include "support/eventually.hpp"
#include "support/manual_executor.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"
#include "support/user_coroutine.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using test::user_coroutine;

/// The result of a coroutine.
struct told {
  std::counting_semaphore<> ended{0};
  std::optional<lease> got;
  std::error_code why;
  std::optional<released> gave;
  std::thread::id where;
  void end() {
    where = std::this_thread::get_id();
    ended.release();
  }
};

user_coroutine take(store s, std::string name, lock_options on, told& t) {
  try {
    t.got = co_await s.async_acquire(name, on);
  } catch (const lock_error& e) {
    t.why = e.code();
  }
  t.end();
}

user_coroutine try_to_take(store s, std::string name, limit until, told& t) {
  try {
    t.got = co_await s.async_try_acquire(name, until);
  } catch (const lock_error& e) {
    t.why = e.code();
  }
  t.end();
}

user_coroutine give(lease held, told& t) {
  t.gave = co_await held.async_release();
  t.end();
}

class async_test : public testing::Test {
 protected:
  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  store store_ = service_.open({.observe = seen_});
};

TEST_F(async_test, resumes_the_coroutine_with_a_lease_on_the_executor) {
  told t;
  take(store_, "a", {}, t);
  ASSERT_TRUE(test::happens(t.ended));
  ASSERT_TRUE(t.got);
  EXPECT_TRUE(t.got->held());
  EXPECT_EQ(t.got->name(), "a");
  EXPECT_NE(t.where, std::this_thread::get_id());
}

TEST_F(async_test, waits_without_blocking_a_thread) {
  lease held = store_.acquire("a");
  told t;
  take(store_, "a", {}, t);
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  EXPECT_FALSE(t.got);
  EXPECT_EQ(held.release(), released::yes);
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_TRUE(t.got && t.got->held());
}

TEST_F(async_test, sends_nothing_before_it_is_awaited) {
  {
    const awaitable<lease> unused = store_.async_acquire("a");
  }
  {
    const awaitable<std::optional<lease>> unused = store_.async_try_acquire("a", within(1s));
  }
  awaitable<lease> moved = store_.async_acquire("a");
  {
    const awaitable<lease> brief = std::move(moved);
  }
  EXPECT_EQ(service_.server().size(), 0u);
  EXPECT_TRUE(seen_->events().empty());
}

TEST_F(async_test, returns_empty_when_the_limit_ends) {
  const lease held = store_.acquire("a");
  told now, later;
  try_to_take(store_, "a", within(0s), now);
  try_to_take(store_, "a", within(2ms), later);
  ASSERT_TRUE(test::happens(now.ended) && test::happens(later.ended));
  EXPECT_FALSE(now.got || later.got);
  EXPECT_FALSE(now.why || later.why);
}

TEST_F(async_test, stops_waiting_when_its_token_is_stopped) {
  const lease held = store_.acquire("a");
  std::stop_source stop;
  told t;
  try_to_take(store_, "a", until(stop.get_token()), t);
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  stop.request_stop();
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_FALSE(t.got);
  EXPECT_FALSE(t.why);
}

user_coroutine take_all(store s, std::vector<std::string> names, told& t) {
  t.got = co_await s.async_acquire(names);
  t.end();
}

TEST_F(async_test, acquires_several_names_at_once) {
  told t;
  take_all(store_, {"b", "a"}, t);
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_EQ(t.got->name(), "b");
  EXPECT_FALSE(store_.try_acquire("a"));
  EXPECT_FALSE(store_.try_acquire({"a", "c"}));
  EXPECT_TRUE(store_.try_acquire("c", within(test::hang)));
}

TEST_F(async_test, throws_into_the_coroutine_when_the_store_fails) {
  service_.server().set_faults({.refusal = storage::failure(errc::denied, "no")});
  told t;
  take(store_, "a", {}, t);
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_EQ(t.why, errc::denied);
  service_.heal();
}

TEST_F(async_test, throws_into_the_coroutine_when_the_store_is_closed) {
  const lease held = store_.acquire("a");
  told before, after;
  take(store_, "a", {}, before);
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  store_.close();
  take(store_, "a", {}, after);
  ASSERT_TRUE(test::happens(before.ended) && test::happens(after.ended));
  EXPECT_EQ(before.why, errc::closed);
  EXPECT_EQ(after.why, errc::closed);
}

TEST_F(async_test, returns_the_result_of_a_release) {
  told first, second;
  give(store_.acquire("a"), first);
  ASSERT_TRUE(test::happens(first.ended));
  EXPECT_EQ(first.gave, released::yes);
  EXPECT_EQ(service_.server().size(), 0u);
  lease lost = store_.acquire("a", {.ttl = 20ms, .renew = false});
  EXPECT_TRUE(test::happens(lost.lost_token()));
  give(std::move(lost), second);
  ASSERT_TRUE(test::happens(second.ended));
  EXPECT_EQ(second.gave, released::lost);
}

TEST_F(async_test, calls_back_with_a_lease_nothing_or_an_error) {
  std::counting_semaphore<> called(0);
  std::vector<std::pair<std::error_code, bool>> answers;
  std::optional<lease> kept;
  const auto ask = [&](std::string_view name) {
    store_.async_try_acquire(name, within(1ms), {}, [&](std::error_code why, std::optional<lease> got) {
      answers.emplace_back(why, got.has_value());
      if (got) kept = std::move(got);
      called.release();
    });
    ASSERT_TRUE(test::happens(called));
  };
  ask("a");
  ask("a");
  kept.reset();
  store_.close();
  ask("a");
  using answer = std::pair<std::error_code, bool>;
  EXPECT_EQ(answers, (std::vector{answer({}, true), answer({}, false), answer(errc::closed, false)}));
}

TEST_F(async_test, warns_of_a_callback_that_throws_and_continues) {
  store_.async_try_acquire("a", within(1s), {}, [](std::error_code, const std::optional<lease>&) {
    throw std::runtime_error("out of a callback");
  });
  ASSERT_TRUE(seen_->comes(event::kind::warning));
  EXPECT_EQ(seen_->events(event::kind::warning)[0].text, "out of a callback");
  EXPECT_TRUE(store_.try_acquire("a", within(test::hang))) << "its lease was not released";
}

TEST_F(async_test, renews_leases_while_a_callback_blocks) {
  std::counting_semaphore<> blocks(0), go_on(0);
  const lease kept = store_.acquire("kept", {.ttl = 300ms});  // a busy machine must not lose it
  const lease fixed = store_.acquire("fixed", {.ttl = 50ms, .renew = false});
  const std::stop_token lost = fixed.lost_token();
  const auto deadline = kept.deadline();
  store_.async_try_acquire("a", within(1s), {}, [&](std::error_code, const std::optional<lease>&) {
    blocks.release();
    EXPECT_TRUE(test::happens(go_on));
  });
  ASSERT_TRUE(test::happens(blocks));
  EXPECT_TRUE(test::eventually([&] { return kept.deadline() > deadline; })) << "it was not renewed";
  EXPECT_TRUE(test::eventually([&] { return !fixed.held(); })) << "held() waits for the executor";
  EXPECT_FALSE(lost.stop_requested()) << "the stop callback was not queued";
  go_on.release();
  EXPECT_TRUE(test::happens(lost));
}

TEST_F(async_test, does_not_block_in_a_release_inside_a_callback) {
  std::counting_semaphore<> called(0);
  std::optional<released> gave;
  store_.async_try_acquire("a", within(1s), {}, [&](std::error_code, std::optional<lease> got) {
    gave = got->release();
    EXPECT_FALSE(got->held());
    called.release();
  });
  ASSERT_TRUE(test::happens(called));
  EXPECT_EQ(gave, released::unknown) << "the release blocked";
  EXPECT_TRUE(store_.try_acquire("a", within(test::hang)));
}

user_coroutine take_and_give_twice(store s, told& t) {
  lease first = co_await s.async_acquire("a");
  const released end = co_await first.async_release();
  t.gave = end;
  lease second = co_await s.async_acquire("a");
  t.got = std::move(second);
  t.end();
}

TEST_F(async_test, supports_several_awaits_in_one_coroutine) {
  told t;
  take_and_give_twice(store_, t);
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_EQ(t.gave, released::yes);
  EXPECT_TRUE(t.got && t.got->held());
}

user_coroutine count(store s, int& guarded_by_it, std::counting_semaphore<>& ended) {
  {
    const lease held = co_await s.async_acquire("a");
    ++guarded_by_it;
  }
  ended.release();
}

TEST_F(async_test, serves_a_thousand_waiting_coroutines) {
  constexpr int many = 1'000;
  int guarded_by_it = 0;
  std::counting_semaphore<> ended(0);
  lease held = store_.acquire("a");
  for (int k = 0; k < many; ++k) count(store_, guarded_by_it, ended);
  EXPECT_TRUE(seen_->comes(event::kind::waiting, many));
  EXPECT_EQ(held.release(), released::yes);
  for (int k = 0; k < many; ++k) ASSERT_TRUE(test::happens(ended));
  EXPECT_EQ(guarded_by_it, many);
}

TEST_F(async_test, copies_its_arguments) {
  told t;
  {
    auto name = std::make_unique<std::string>("a name that is gone before anything is sent");
    auto label = std::make_unique<std::string>("and a label");
    const awaitable<lease> copied = store_.async_acquire(*name, {.label = *label});
    take(store_, *name, {}, t);
  }
  ASSERT_TRUE(test::happens(t.ended));
  EXPECT_EQ(t.got->name(), "a name that is gone before anything is sent");
}

// Destroying a suspended coroutine, on an executor that the test runs itself.
class cancelling : public testing::Test {
 protected:
  /// Runs user code until the condition is true.
  template <class F>
  bool eventually(F condition) {
    return test::eventually([&] {
      user_.run();
      return condition();
    });
  }

  const test::memory_service service_;
  test::manual_executor user_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  std::optional<store> store_ = service_.open({.observe = seen_, .executor = user_.poster()});
  ~cancelling() override {
    store_.reset();
    user_.run();
  }
};

TEST_F(cancelling, a_suspended_acquire_leaves_the_queue) {
  told t;
  lease held = store_->acquire("a");
  user_coroutine waiting = take(*store_, "a", {}, t);
  EXPECT_TRUE(eventually([&] { return !seen_->events(event::kind::waiting).empty(); }));
  waiting.destroy();
  EXPECT_TRUE(eventually([&] { return !seen_->events(event::kind::left).empty(); }));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(eventually([&] { return service_.server().size() == 0; }));
  EXPECT_FALSE(t.got);
}

TEST_F(cancelling, a_suspended_try_leaves_the_queue) {
  told t;
  lease held = store_->acquire("a");
  user_coroutine waiting = try_to_take(*store_, "a", within(1h), t);
  EXPECT_TRUE(eventually([&] { return !seen_->events(event::kind::waiting).empty(); }));
  waiting.destroy();
  EXPECT_TRUE(eventually([&] { return !seen_->events(event::kind::left).empty(); }));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(eventually([&] { return service_.server().size() == 0; }));
  EXPECT_FALSE(t.got);
}

TEST_F(cancelling, an_acquire_that_was_granted_releases_its_lease) {
  told t;
  user_coroutine waiting = take(*store_, "a", {}, t);
  EXPECT_TRUE(test::eventually([&] { return service_.server().size() == 1 && user_.waiting() > 1; }));
  waiting.destroy();  // granted, but not notified yet
  EXPECT_TRUE(eventually([&] { return service_.server().size() == 0; }));
  EXPECT_FALSE(t.got);
}

TEST_F(cancelling, runs_all_user_code_on_the_given_executor) {
  told t;
  take(*store_, "a", {}, t);
  EXPECT_TRUE(eventually([&] { return t.got.has_value(); }));
  EXPECT_EQ(t.where, std::this_thread::get_id());
  t.got.reset();
}

/// An executor that calls the store from another thread whenever it is called. The store owns it too: if the last
/// handle is destroyed on the executor, the store ends later on a thread of its own.
class curious_executor : public std::enable_shared_from_this<curious_executor> {
 public:
  [[nodiscard]] std::function<void(std::function<void()>)> poster() {
    return [this, alive = shared_from_this()](std::function<void()> f) {
      ++calls_;
      if (const std::shared_ptr<store> s = store_.with([](auto& now) { return now; }); s && !asking_.exchange(true)) {
        std::promise<void> ended;
        const std::future<void> asked = ended.get_future();
        askers_.add([s, ended = std::make_shared<std::promise<void>>(std::move(ended))] {
          for (const char* name : {"a", "another"}) (void)s->try_acquire(name);
          ended->set_value();
        });
        if (!test::happens(asked)) ++blocked_;
        asking_ = false;
      }
      user_.post(std::move(f));
    };
  }
  void ask(std::shared_ptr<store> s) {
    store_.with([&](auto& now) { now.swap(s); });
  }
  void stop_asking() {
    ask(nullptr);
    EXPECT_TRUE(test::eventually([&] { return !asking_; }));
    askers_.join();
  }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int blocked() const { return blocked_; }

 private:
  runtime::guarded<std::shared_ptr<store>> store_;
  std::atomic<int> calls_{0}, blocked_{0};
  std::atomic<bool> asking_{false};
  runtime::queue_thread user_{"test-user"};
  test::threads askers_;
};

TEST(given_executor, is_called_without_an_internal_lock_held) {
  const test::memory_service service;
  const auto user = std::make_shared<curious_executor>();
  const auto seen = std::make_shared<test::recorder>();
  const auto s = std::make_shared<store>(service.open({.observe = seen, .executor = user->poster()}));
  user->ask(s);
  {
    lease handed_over = s->acquire("a");
    std::thread next([&] { const lease mine = s->acquire("a"); });
    EXPECT_TRUE(seen->comes(event::kind::waiting));
    EXPECT_NE(handed_over.release(), released::lost);
    next.join();
  }
  {
    const lease lost = s->acquire("b", {.ttl = 20ms, .renew = false});
    EXPECT_TRUE(test::happens(lost.lost_token()));
  }
  std::counting_semaphore<> called(0);
  s->async_try_acquire("c", within(test::hang), {},
                       [&](std::error_code, const std::optional<lease>&) { called.release(); });
  EXPECT_TRUE(test::happens(called));
  EXPECT_TRUE(seen->comes(event::kind::released, 2));
  user->stop_asking();
  EXPECT_GT(user->calls(), 5);
  EXPECT_EQ(user->blocked(), 0);
}

TEST(throwing_executor, loses_notifications_but_no_lock) {
  const test::memory_service service;
  std::atomic<int> refused{0};
  store s = service.open({.executor = [&](const std::function<void()>&) {
    ++refused;
    throw std::runtime_error("not today");
  }});
  bool called = false;
  s.async_try_acquire("a", within(1s), {}, [&](std::error_code, const std::optional<lease>&) { called = true; });
  EXPECT_TRUE(test::eventually([&] { return refused > 0; }));
  EXPECT_TRUE(s.try_acquire("a", within(test::hang))) << "a lease that was not delivered was not released";
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace holdfast
