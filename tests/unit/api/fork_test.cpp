// After a fork, every handle of the parent fails in the child, without side effects.
#include <gtest/gtest.h>

#include <mutex>

#include "api/service.hpp"
#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/eventually.hpp"
#include "support/memory_service.hpp"
#include "support/mother.hpp"
#include "support/recorder.hpp"
#include "support/sanitizer.hpp"
#include "support/threads.hpp"
#include "support/user_coroutine.hpp"

#if !HOLDFAST_UNDER_TSAN

namespace holdfast {
namespace {

using namespace std::chrono_literals;

template <class F>
bool says_forked(const F& f) {
  try {
    f();
  } catch (const lock_error& e) {
    return e.code() == errc::forked;
  }
  return false;
}

test::user_coroutine await_release(lease& held, bool& said_forked) {
  try {
    const released end = co_await held.async_release();
    (void)end;
  } catch (const lock_error& e) {
    said_forked = e.code() == errc::forked;
  }
}

class forking : public testing::Test {
 protected:
  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  std::optional<store> store_ = service_.open({.observe = seen_});
};

TEST_F(forking, makes_every_call_fail_in_the_child) {
  lease held = store_->acquire("a");
  mutex m(*store_, "b");
  m.lock();
  test::child son([&] {
    HOLDFAST_SHOULD(!held.held());
    HOLDFAST_SHOULD(held.remaining() == 0ns);
    HOLDFAST_SHOULD(held.deadline() == boot_clock::time_point::min());
    HOLDFAST_SHOULD(held.release() == released::unknown);
    HOLDFAST_SHOULD(says_forked([&] { (void)held.renew(10s); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->acquire("c"); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->try_acquire("c"); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->inspect("a"); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->examine(); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->revoke("a"); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->list(); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->break_lock("a", held.fence(), "it hangs"); }));
    HOLDFAST_SHOULD(!held.revoke_requested().stop_possible());
    HOLDFAST_SHOULD(says_forked([&] { store_->async_try_acquire("c", within(1s), {}, {}); }));
    std::error_code why;
    HOLDFAST_SHOULD(!store_->try_acquire("c", within(1s), {}, why) && why == errc::forked);
    bool said_forked = false;
    await_release(held, said_forked);
    HOLDFAST_SHOULD(said_forked);
    HOLDFAST_SHOULD(says_forked([&] { m.lock(); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)m.try_lock(); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)m.try_lock_for(1s); }));
    HOLDFAST_SHOULD(says_forked([&] { (void)m.current(); }));
    m.unlock();
    store_->close();
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(m.current().held());
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(store_->try_acquire("a")) << "the child closed it";
  m.unlock();
}

TEST_F(forking, lets_the_child_destroy_everything_without_blocking) {
  std::optional<lease> held = store_->acquire("a");
  std::optional<mutex> m(std::in_place, *store_, "b");
  m->lock();
  test::child son([&] {
    held.reset();
    m.reset();
    store_.reset();
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(held->held());
  EXPECT_FALSE(store_->try_acquire("a"));
  m->unlock();
}

TEST_F(forking, lets_the_child_destroy_leases_without_locking_mutexes) {
  const auto family = std::make_shared<test::mother::family>();
  std::optional<store> s =
      detail::service::open("test:", [&](runtime::loop&) { return std::make_unique<test::mother>(family); }, {});
  std::optional<lease> held = s->acquire("a"), over = s->acquire("b"), assigned = s->acquire("c");
  EXPECT_EQ(over->release(), released::yes);
  EXPECT_EQ(assigned->release(), released::yes);
  ASSERT_EQ(family->children, 3);
  test::child son([&] {
    over.reset();
    *assigned = lease();
    held.reset();
    s.reset();
    HOLDFAST_SHOULD(family->children == 3);  // each leaves the table of the store, for which it needs its lock
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(held->held());
}

TEST_F(forking, lets_the_child_destroy_a_lease_during_another_call) {
  std::atomic<bool> enough{false};
  test::threads busy(1, [&](int) {
    while (!enough) (void)service_.server().size();  // locks the table of the store
  });
  for (int k = 0; k < 50 && !HasFailure(); ++k) {
    std::optional<lease> over = store_->acquire("a");
    EXPECT_EQ(over->release(), released::yes);
    test::child son([&] {
      over.reset();
      return true;
    });
    EXPECT_TRUE(son.ends_well());
  }
  enough = true;
}

TEST_F(forking, stops_the_lost_token_in_the_child) {
  const lease held = store_->acquire("a");
  const lease asked_before = store_->acquire("b");
  const std::stop_token before = asked_before.lost_token();
  test::child son([&] {
    HOLDFAST_SHOULD(held.lost_token().stop_requested());
    HOLDFAST_SHOULD(asked_before.lost_token().stop_requested());
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_FALSE(held.lost_token().stop_requested());
  EXPECT_FALSE(before.stop_requested());
}

TEST_F(forking, gives_the_child_its_own_memory_store_of_that_name) {
  const lease held = store_->acquire("a");
  test::child son([&] {
    store mine = service_.open(), same = service_.open();
    std::optional<lease> first = mine.try_acquire("a");
    HOLDFAST_SHOULD(first && first->held());
    HOLDFAST_SHOULD(!same.try_acquire("a"));
    HOLDFAST_SHOULD(first->release() == released::yes);
    return same.try_acquire("a").has_value();
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(store_->try_acquire("a"));
}

TEST_F(forking, lets_the_child_open_a_store_of_its_own) {
  const lease held = store_->acquire("a");
  test::child son([] {
    store mine = open("memory:");
    lease first = mine.acquire("a", {.ttl = 600ms});
    const auto deadline = first.deadline();
    HOLDFAST_SHOULD(test::eventually([&] { return first.deadline() > deadline; }));
    return first.held() && first.release() == released::yes;
  });
  EXPECT_TRUE(son.ends_well());
}

TEST_F(forking, during_waits_and_async_calls_harms_neither_side) {
  lease held = store_->acquire("a");
  std::atomic<int> served{0};
  test::threads waiting(4, [&](int) {
    const lease mine = store_->acquire("a");
    ++served;
  });
  std::counting_semaphore<> called(0);
  store_->async_try_acquire("a", within(1h), {}, [&](std::error_code, std::optional<lease> got) {
    served += got ? 1 : 0;
    called.release();
  });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, 5));
  test::child son([&] {
    HOLDFAST_SHOULD(!held.held());
    HOLDFAST_SHOULD(says_forked([&] { (void)store_->acquire("a"); }));
    held = lease();
    store_.reset();
    return open("memory:").try_acquire("a").has_value();
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_EQ(held.release(), released::yes);
  waiting.join();
  EXPECT_TRUE(test::happens(called));
  EXPECT_EQ(served, 5);
}

TEST_F(forking, makes_calls_on_the_childs_store_fail_in_the_grandchild) {
  test::child son([] {
    store mine = open("memory:");
    lease held = mine.acquire("a");
    test::child grandson([&] { return !held.held() && says_forked([&] { (void)mine.acquire("b"); }); });
    HOLDFAST_SHOULD(grandson.ends_well());
    return held.held();
  });
  EXPECT_TRUE(son.ends_well());
}

}  // namespace
}  // namespace holdfast

#endif
