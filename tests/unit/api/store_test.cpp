#include "holdfast/store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stop_token>

#include "support/bounds.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class store_test : public testing::Test {
 protected:
  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  store store_ = service_.open({.observe = seen_});
};

TEST_F(store_test, returns_empty_when_busy) {
  const lease held = store_.acquire("a");
  EXPECT_FALSE(store_.try_acquire("a"));
  EXPECT_FALSE(store_.try_acquire("a", within(1ms)));
  std::error_code why = errc::lost;
  EXPECT_FALSE(store_.try_acquire("a", within(1ms), {}, why));
  EXPECT_FALSE(why);
}

TEST_F(store_test, returns_empty_when_stopped) {
  const lease held = store_.acquire("a");
  std::stop_source stop;
  stop.request_stop();
  std::error_code why;
  EXPECT_FALSE(store_.try_acquire("a", until(stop.get_token()), {}, why));
  EXPECT_FALSE(why);
}

TEST_F(store_test, acquires_a_lock_within_the_limit) {
  std::optional<lease> got = store_.try_acquire("a", within(1s));
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->held());
}

TEST_F(store_test, sets_the_error_code_without_throwing) {
  store impatient = service_.open({.patience = 1ms});
  service_.lose_all_requests();
  std::error_code why;
  EXPECT_FALSE(impatient.try_acquire("a", within(1h), {}, why));
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_FALSE(impatient.try_acquire("a", within(0s), {}, why));
  EXPECT_EQ(why, errc::unreachable) << "one request without an answer";
  service_.heal();
  EXPECT_TRUE(impatient.try_acquire("a", within(1h), {}, why));
  EXPECT_FALSE(why);
}

TEST_F(store_test, names_lock_store_and_cause_in_an_error) {
  service_.server().set_faults({.refusal = storage::failure(errc::denied, "NOPERM the server's words")});
  try {
    (void)store_.acquire("train/001");
    FAIL() << "accepted";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::denied);
    EXPECT_EQ(e.lock(), "train/001");
    const std::string what = e.what();
    for (const std::string& part :
         {std::string("train/001"), service_.url(), std::string("NOPERM the server's words")}) {
      EXPECT_NE(what.find(part), std::string::npos) << what;
    }
  }
  service_.heal();
}

TEST_F(store_test, is_shared_by_its_copies) {
  store copy = store_;
  const lease held = copy.acquire("a");
  EXPECT_FALSE(store_.try_acquire("a"));
  store assigned = open("memory:");
  assigned = copy;
  EXPECT_FALSE(assigned.try_acquire("a"));
  copy.close();
  EXPECT_THROW((void)store_.acquire("b"), lock_error);
}

TEST_F(store_test, reports_in_examine_that_it_is_local_to_the_process) {
  const store here = open("memory:");
  const std::vector<finding> all = here.examine();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, "memory.process");
  EXPECT_EQ(all[0].level, finding::severity::note);
}

TEST_F(store_test, inspects_for_no_longer_than_the_limit) {
  store patient = service_.open({.patience = 1h});
  service_.server().set_faults({.lose_requests = 1});
  EXPECT_THROW((void)patient.inspect("a", within(200ms)), lock_error);
  service_.server().set_faults({});
}

TEST_F(store_test, rejects_calls_after_close_but_keeps_leases) {
  lease held = store_.acquire("a");
  store_.close();
  store_.close();
  std::error_code why;
  EXPECT_FALSE(store_.try_acquire("b", within(1h), {}, why));
  EXPECT_EQ(why, errc::closed);
  EXPECT_FALSE(store_.try_acquire("a", within(0s), {}, why));
  EXPECT_EQ(why, errc::closed);
  EXPECT_THROW((void)store_.inspect("a"), lock_error);
  EXPECT_THROW((void)store_.examine(), lock_error);
  EXPECT_THROW((void)store_.revoke("a"), lock_error);
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.renew(10s));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_EQ(service_.server().size(), 0u);
}

TEST_F(store_test, wakes_a_thousand_waiting_threads_when_it_is_closed) {
  constexpr int many = 1'000;
  const lease held = store_.acquire("a");
  std::atomic<int> closed{0};
  test::threads all(many, [&](int) {
    std::error_code why;
    if (!store_.try_acquire("a", within(1h), {}, why) && why == errc::closed) ++closed;
  });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, many));
  store_.close();
  all.join();
  EXPECT_EQ(closed, many);
}

TEST_F(store_test, wakes_a_thousand_waiting_callbacks_when_it_is_closed) {
  constexpr int many = 1'000;
  const lease held = store_.acquire("a");
  std::counting_semaphore<> ended(0);
  std::atomic<int> closed{0};
  for (int k = 0; k < many; ++k) {
    store_.async_try_acquire("a", within(1h), {}, [&](std::error_code why, std::optional<lease> got) {
      if (!got && why == errc::closed) ++closed;
      ended.release();
    });
  }
  EXPECT_TRUE(seen_->comes(event::kind::waiting, many));
  store_.close();
  for (int k = 0; k < many; ++k) ASSERT_TRUE(test::happens(ended));
  EXPECT_EQ(closed, many);
}

TEST_F(store_test, serves_a_thousand_waiting_threads_one_after_the_other) {
  constexpr int many = 1'000;
  int guarded_by_it = 0;
  lease held = store_.acquire("a");
  test::threads all(many, [&](int) {
    const lease mine = store_.acquire("a");
    ++guarded_by_it;
  });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, many));
  EXPECT_EQ(held.release(), released::yes);
  all.join();
  EXPECT_EQ(guarded_by_it, many);
  EXPECT_EQ(service_.server().size(), 0u);
}

TEST_F(store_test, is_destroyed_while_leases_and_waiting_copies_exist) {
  std::optional<store> handle = open("memory:", {.observe = seen_});
  lease held = handle->acquire("a");
  test::threads all(4, [copy = *handle](int) mutable {
    store mine = copy;
    const lease got = mine.acquire("a");
    EXPECT_TRUE(got.held());
  });
  EXPECT_TRUE(seen_->comes(event::kind::waiting, 4));
  handle.reset();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
  all.join();
}

/// Callers whose limits end at the moments at which the lock is passed to them.
class giving_up {
 public:
  /// Tries for a short time. It may be busy or stopped; a store that answers causes no errors.
  void try_for_a_moment(store& s, std::chrono::microseconds moment, const std::stop_token& stop) {
    std::error_code why;
    const std::optional<lease> got = s.try_acquire("a", within(moment, stop), {}, why);
    if (why) ++errors;
    if (!got) return;
    ++guarded_by_it;
    ++granted;
  }
  int guarded_by_it = 0;
  std::atomic<int> granted{0}, errors{0};
};

TEST_F(store_test, leaks_no_lock_when_callers_time_out_as_they_get_it) {
  giving_up all_of_them;
  {
    const test::threads all(6, [&](int me) {
      std::mt19937 random(static_cast<unsigned>(me));
      for (int k = 0; k < 400; ++k) {
        std::stop_source stop;
        std::jthread stopper;
        if (k % 8 == 0) stopper = std::jthread([&] { stop.request_stop(); });
        all_of_them.try_for_a_moment(store_, std::chrono::microseconds(random() % 60), stop.get_token());
      }
    });
  }
  EXPECT_GT(all_of_them.granted, 0);
  EXPECT_EQ(all_of_them.errors, 0);
  const std::optional<lease> last = store_.try_acquire("a", within(5s));  // the ttl is 10 s
  ASSERT_TRUE(last) << "a caller that left still holds the lock";
  EXPECT_EQ(all_of_them.guarded_by_it, all_of_them.granted);
}

/// As above, in the queue of the store: each caller is a client of its own, and push messages arrive after it has left.
TEST_F(store_test, leaks_no_lock_when_clients_leave_as_they_are_granted) {
  giving_up all_of_them;
  {
    const test::threads all(4, [&](int me) {
      store mine = service_.open();
      std::mt19937 random(static_cast<unsigned>(me));
      for (int k = 0; k < 250; ++k) {
        all_of_them.try_for_a_moment(mine, std::chrono::microseconds(random() % 60), {});
      }
    });
  }
  EXPECT_EQ(all_of_them.errors, 0);
  const std::optional<lease> last = store_.try_acquire("a", within(5s));
  ASSERT_TRUE(last) << "a caller that left still holds the lock";
  EXPECT_EQ(all_of_them.guarded_by_it, all_of_them.granted);
}

TEST_F(store_test, gives_every_holder_a_higher_fence_than_the_one_before) {
  std::uint64_t last = 0;
  int wrong = 0;
  {
    const test::threads all(4, [&](int me) {
      store mine = me % 2 == 0 ? store_ : service_.open();
      for (int k = 0; k < 100; ++k) {
        const lease held = mine.acquire("a");
        if (held.fence() <= last) ++wrong;
        last = held.fence();
      }
    });
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace holdfast
