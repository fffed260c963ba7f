#include "runtime/queue_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "support/bounds.hpp"
#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

TEST(queue_thread, runs_jobs_in_order_on_one_other_thread) {
  std::vector<int> order;
  std::vector<std::thread::id> where;
  {
    queue_thread queue("holdfast-test");
    for (int k = 0; k < 100; ++k) {
      queue.post([&, k] {
        order.push_back(k);
        where.push_back(std::this_thread::get_id());
      });
    }
  }
  std::vector<int> expected(100);
  for (int k = 0; k < 100; ++k) expected[static_cast<std::size_t>(k)] = k;
  EXPECT_EQ(order, expected);
  EXPECT_NE(where.front(), std::this_thread::get_id());
  EXPECT_EQ(where, std::vector(100, where.front()));
}

TEST(queue_thread, can_start_before_its_first_job) {
  std::thread::id first, second;
  {
    queue_thread q("holdfast-test");
    q.start();
    q.start();
    q.post([&] { first = std::this_thread::get_id(); });
    q.post([&] { second = std::this_thread::get_id(); });
  }
  EXPECT_NE(first, std::thread::id());
  EXPECT_EQ(first, second);
}

TEST(queue_thread, knows_its_own_thread) {
  std::atomic<bool> there = false;
  queue_thread queue("holdfast-test");
  EXPECT_FALSE(queue.is_this_thread());
  std::counting_semaphore<> ran(0);
  queue.post([&] {
    there = queue.is_this_thread();
    ran.release();
  });
  ASSERT_TRUE(test::happens(ran));
  EXPECT_TRUE(there);
  EXPECT_FALSE(queue.is_this_thread());
}

TEST(queue_thread, runs_remaining_jobs_before_it_ends) {
  int ran = 0;
  {
    queue_thread queue("holdfast-test");
    std::counting_semaphore<> go(0);
    queue.post([&] { EXPECT_TRUE(test::happens(go)); });
    queue.post([&] { queue.post([&] { ++ran; }); });
    go.release();
  }
  EXPECT_EQ(ran, 1);
}

TEST(queue_thread, destroys_a_job_before_the_next_on_its_own_thread) {
  struct owned {
    std::thread::id& died_on;
    explicit owned(std::thread::id& d) : died_on(d) {}
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    ~owned() { died_on = std::this_thread::get_id(); }
  };
  std::thread::id died_on, ran_on;
  bool died_before = false;
  {
    queue_thread queue("holdfast-test");
    queue.post([it = std::make_shared<owned>(died_on)] {});
    queue.post([&] {
      ran_on = std::this_thread::get_id();
      died_before = died_on == ran_on;
    });
  }
  EXPECT_TRUE(died_before);
}

TEST(queue_thread, starts_a_batch_when_it_ends) {
  queue_thread one("holdfast-test"), other("holdfast-test");
  std::counting_semaphore<> ran(0);
  {
    const queue_thread::batch together;
    for (queue_thread* const queue : {&one, &other, &one}) queue->post([&] { ran.release(); });
  }
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(test::happens(ran));
}

TEST(queue_thread, starts_a_long_batch_before_it_ends) {
  queue_thread queue("holdfast-test");
  std::counting_semaphore<> ran(0);
  const queue_thread::batch together;
  for (int k = 0; k < 100; ++k) queue.post([&] { ran.release(); });
  ASSERT_TRUE(test::happens(ran));
}

TEST(queue_thread, takes_jobs_from_many_threads) {
  int ran = 0;
  {
    queue_thread queue("holdfast-test");
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 500; ++k) queue.post([&] { ++ran; });
    });
  }
  EXPECT_EQ(ran, 2'000);
}

}  // namespace
}  // namespace holdfast::runtime
