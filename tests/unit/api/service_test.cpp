// The ownership of an open store, and its end on any thread.
#include "api/service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <semaphore>

#include "support/bounds.hpp"
#include "support/eventually.hpp"
#include "support/manual_executor.hpp"
#include "support/memory_service.hpp"
#include "support/mother.hpp"
#include "support/user_coroutine.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// Signals when the store that owns it is destroyed.
class last_breath final : public observer {
 public:
  explicit last_breath(std::counting_semaphore<>& gone) : gone_(gone) {}
  last_breath(const last_breath&) = delete;
  last_breath& operator=(const last_breath&) = delete;
  ~last_breath() override { gone_.release(); }
  void on(const event&) noexcept override {}

 private:
  std::counting_semaphore<>& gone_;
};

class service_test : public testing::Test {
 protected:
  store open_store() { return service_.open({.observe = std::make_shared<last_breath>(gone_)}); }
  const test::memory_service service_;
  std::counting_semaphore<> gone_{0};
};

TEST_F(service_test, ends_with_the_last_handle) {
  {
    const store first = open_store();
    {
      const store copy = first;
    }
    EXPECT_FALSE(gone_.try_acquire());
  }
  EXPECT_TRUE(gone_.try_acquire());
}

TEST_F(service_test, ends_with_the_last_lease) {
  lease held = open_store().acquire("a");
  EXPECT_FALSE(gone_.try_acquire());
  held = lease();
  EXPECT_TRUE(gone_.try_acquire());
}

TEST_F(service_test, ends_on_its_own_executor) {
  std::counting_semaphore<> called(0);
  {
    store s = open_store();
    auto own = std::make_shared<std::optional<store>>(s);
    s.async_try_acquire("a", within(1s), {}, [&called, own](std::error_code, std::optional<lease> got) {
      EXPECT_TRUE(test::happens(called));
      got.reset();
      own->reset();  // the last handle except the one of this call
    });
  }
  EXPECT_FALSE(gone_.try_acquire());
  called.release();
  EXPECT_TRUE(test::happens(gone_));
  EXPECT_EQ(service_.server().size(), 0u);
}

TEST_F(service_test, ends_with_a_lease_destroyed_on_its_executor) {
  std::counting_semaphore<> called(0);
  open_store().async_try_acquire("a", within(1s), {}, [&](std::error_code, const std::optional<lease>& got) {
    EXPECT_TRUE(got && got->held());
    called.release();
  });
  EXPECT_TRUE(test::happens(called));
  EXPECT_TRUE(test::happens(gone_));
}

test::user_coroutine own_the_store(store s, std::counting_semaphore<>& ended) {
  {
    const lease held = co_await s.async_acquire("a");
  }
  ended.release();
}

TEST_F(service_test, ends_with_the_coroutine_that_owns_the_last_handle) {
  for (int k = 0; k < 20; ++k) {
    std::counting_semaphore<> ended(0);
    own_the_store(open_store(), ended);
    EXPECT_TRUE(test::happens(ended));
    EXPECT_TRUE(test::happens(gone_));
  }
  EXPECT_EQ(service_.server().size(), 0u);
}

test::user_coroutine wait_for_it(store s) { const lease held = co_await s.async_acquire("a"); }

TEST_F(service_test, ends_when_all_handles_are_destroyed_during_a_wait) {
  store other = service_.open();
  const lease theirs = other.acquire("a");
  test::manual_executor user;
  std::optional<test::user_coroutine> waiting;
  {
    const auto breath = std::make_shared<last_breath>(gone_);
    waiting = wait_for_it(service_.open({.observe = breath, .executor = user.poster()}));
  }
  EXPECT_FALSE(gone_.try_acquire());
  waiting->destroy();  // it had the last handle
  EXPECT_TRUE(test::eventually([&] {
    user.run();
    return gone_.try_acquire();
  }));
}

TEST_F(service_test, waits_for_user_code_on_its_executor) {
  std::counting_semaphore<> begun(0);
  std::atomic<bool> ended{false};
  {
    store s = open_store();
    lease held = s.acquire("a", {.ttl = 20ms, .renew = false});
    const std::stop_token lost = held.lost_token();
    std::stop_callback slow(lost, [&] {
      begun.release();
      for (int k = 0; k < 1'000; ++k) std::this_thread::yield();
      ended = true;
    });
    EXPECT_TRUE(test::happens(begun));
  }
  EXPECT_TRUE(ended);
}

TEST_F(service_test, ends_while_the_store_does_not_answer) {
  {
    store s = open_store();
    lease held = s.acquire("a", {.ttl = 30ms});
    service_.lose_all_requests();
    EXPECT_NE(held.release(), released::yes);
  }
  EXPECT_TRUE(gone_.try_acquire()) << "it waited for the store";
  service_.heal();
}

TEST(backend, outlives_its_claims_when_a_loss_is_reported_last) {
  const auto family = std::make_shared<test::mother::family>();
  test::manual_executor user;
  {
    store s = detail::service::open("test:", [&](runtime::loop&) { return std::make_unique<test::mother>(family); },
                                    {.executor = user.poster()});
    lease held = s.acquire("a", {.ttl = 20ms, .renew = false});
    const std::stop_token lost = held.lost_token();
    EXPECT_TRUE(test::eventually([&] { return user.waiting() > 0; })) << "the loss was not posted";
    EXPECT_FALSE(lost.stop_requested());
  }
  user.run();
  EXPECT_FALSE(family->orphaned);
  EXPECT_EQ(family->children, 0);
}

/// Keeps running, with the awaitable still alive, until the store is destroyed.
test::user_coroutine outlive_the_store(awaitable<released> giving, test::mother::family& store, bool& ended) {
  const released how = co_await giving;
  EXPECT_EQ(how, released::yes);
  EXPECT_TRUE(test::eventually([&] { return store.gone.load(); }));
  ended = true;
}

TEST(backend, outlives_its_claims_when_a_release_is_reported_last) {
  const auto family = std::make_shared<test::mother::family>();
  test::manual_executor user;
  bool ended = false;
  {
    std::optional<store> s = detail::service::open(
        "test:", [&](runtime::loop&) { return std::make_unique<test::mother>(family); }, {.executor = user.poster()});
    std::optional<lease> held = s->acquire("a");
    awaitable<released> giving = held->async_release();
    held.reset();
    s.reset();
    outlive_the_store(std::move(giving), *family, ended);
  }
  EXPECT_TRUE(test::eventually([&] {
    user.run();
    return ended;
  }));
  EXPECT_FALSE(family->orphaned) << "queued work of the lease kept its claim alive";
  EXPECT_EQ(family->children, 0);
}

/// Two stores. The last handle of each is destroyed in a callback of the other, while both callbacks run.
TEST(two_stores, end_in_each_others_callbacks_without_deadlock) {
  struct state {
    std::latch all_are_there{3};
    std::counting_semaphore<> ended{0}, gone{0};
  };
  const auto shared = std::make_shared<state>();  // if it hangs, the callbacks outlive this test
  const auto open_one = [&] {
    return std::make_shared<store>(open("memory:", {.observe = std::make_shared<last_breath>(shared->gone)}));
  };
  auto one = open_one(), two = open_one();
  const auto drop = [&](store& in, std::shared_ptr<store> other) {
    in.async_try_acquire("a", within(test::hang), {},
                         [shared, other = std::move(other)](std::error_code, std::optional<lease> got) mutable {
                           got.reset();
                           shared->all_are_there.arrive_and_wait();
                           other.reset();
                           shared->ended.release();
                         });
  };
  drop(*one, two);
  drop(*two, one);
  one.reset();
  two.reset();
  shared->all_are_there.arrive_and_wait();
  for (int k = 0; k < 2; ++k) ASSERT_TRUE(test::happens(shared->ended));
  for (int k = 0; k < 2; ++k) EXPECT_TRUE(test::happens(shared->gone));
}

}  // namespace
}  // namespace holdfast
