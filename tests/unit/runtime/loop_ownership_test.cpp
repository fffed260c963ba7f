#include "runtime/loop_ownership.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "runtime/loop.hpp"
#include "runtime/task_group.hpp"
#include "support/started.hpp"
#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

/// Which thread did the work, and whether it was the thread of the loop.
struct finding {
  std::thread::id done_by;
  bool on_loop = false;
};

task<void> look(loop& l, finding& into, signal& over) {
  into = {std::this_thread::get_id(), l.is_this_thread()};
  over.set();
  co_return;
}

task<void> look_after(loop& l, signal& first, finding& into, signal& over) {
  const wake why = co_await wait(l, first);
  (void)why;
  co_await look(l, into, over);
}

task<void> tell(signal& whom) {
  whom.set();
  co_return;
}

task<std::thread::id> where_after(loop& l, signal& first) {
  const wake why = co_await wait(l, first);
  (void)why;
  co_return std::this_thread::get_id();
}

task<void> write_soon(loop& l, int to) {
  const wake why = co_await sleep(l, within(5ms));
  EXPECT_EQ(why, wake::late);
  EXPECT_EQ(::write(to, "x", 1), 1);
}

class running_the_loop : public testing::Test {
 protected:
  ~running_the_loop() override { running_.wait_until_empty(); }

  finding look_around() {
    finding found;
    signal over;
    running_.run_until(look(loop_, found, over), over);
    return found;
  }
  finding look_around_after(signal& first) {
    finding found;
    signal over;
    running_.run_until(look_after(loop_, first, found, over), over);
    return found;
  }

  loop loop_;
  task_group running_{loop_};
};

TEST_F(running_the_loop, caller_does_its_own_work) {
  for (int k = 0; k < 100; ++k) {
    const finding found = look_around();
    EXPECT_EQ(found.done_by, std::this_thread::get_id());
    EXPECT_TRUE(found.on_loop);
    EXPECT_FALSE(loop_.is_this_thread());
  }
}

TEST_F(running_the_loop, caller_does_what_others_post_meanwhile) {
  signal now, later;
  now.set();
  std::thread::id posted_to, called_for;
  const test::threads other(1, [&](int) {
    posted_to = test::get(test::start(running_, where_after(loop_, now)));
    called_for = look_around().done_by;
    later.set();
  });
  EXPECT_TRUE(look_around_after(later).on_loop);
  EXPECT_NE(posted_to, std::thread::id());
  EXPECT_NE(called_for, std::thread::id());
}

TEST_F(running_the_loop, own_thread_does_the_rest) {
  for (int k = 0; k < 100; ++k) {
    signal go;
    std::future<std::thread::id> rest = test::start(running_, where_after(loop_, go));
    EXPECT_EQ(look_around().done_by, std::this_thread::get_id());
    go.set();
    EXPECT_NE(test::get(std::move(rest)), std::this_thread::get_id());
  }
}

TEST_F(running_the_loop, caller_serves_descriptors_and_timers) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  signal heard;
  loop_.watch(pipe[0], [&] { heard.set(); }, loop::interest::readable_once);
  running_.spawn(write_soon(loop_, pipe[1]));
  EXPECT_TRUE(look_around_after(heard).on_loop);
  loop_.unwatch(pipe[0]);
  for (const int end : pipe) ::close(end);
}

/// Threads run the loop, delegate to one another and post, in all orders; each gets its own answer.
TEST_F(running_the_loop, loses_no_work_when_callers_come_and_go) {
  constexpr int rounds = 400;
  std::atomic<int> right{0};
  {
    const test::threads all(4, [&](int who) {
      for (int k = 0; k < rounds; ++k) {
        signal first;
        if ((who + k) % 3 == 0) running_.spawn(tell(first));
        if ((who + k) % 3 == 1) first.set();
        std::thread late;
        if ((who + k) % 3 == 2) late = std::thread([&] { first.set(); });
        right += look_around_after(first).on_loop ? 1 : 0;
        if (late.joinable()) late.join();
        if (k % 16 != 0) continue;
        signal now;
        now.set();
        (void)test::get(test::start(running_, where_after(loop_, now)));  // the own thread takes over again
      }
    });
  }
  EXPECT_EQ(right, 4 * rounds);
}

TEST_F(running_the_loop, loop_stops_while_its_thread_is_idle) {
  EXPECT_TRUE(look_around().on_loop);
  running_.wait_until_empty();
  loop_.stop();
}

}  // namespace
}  // namespace holdfast::runtime
