#include "directory/writer_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <deque>
#include <fstream>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "runtime/guarded.hpp"
#include "storage/answer.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {
namespace {

using namespace std::chrono_literals;

/// Two clients. They could also be in two processes, because the lock belongs to the open file.
class turns : public testing::Test {
 protected:
  static instant soon() { return boot_clock::now() + test::hang; }
  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
  writer_lock one_{folder_}, other_{folder_};
};

TEST_F(turns, come_one_after_another) {
  {
    const writer_lock::turn first(one_, boot_clock::now());
  }
  {
    const writer_lock::turn second(other_, boot_clock::now());
  }
  const writer_lock::turn third(one_, boot_clock::now());
}

TEST_F(turns, fail_after_the_limit_and_name_the_writer) {
  const writer_lock::turn first(one_, boot_clock::now());
  try {
    const writer_lock::turn second(other_, boot_clock::now());
    FAIL() << "two writers at once";
  } catch (const storage::failure& why) {
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_EQ(why.text.rfind("process " + std::to_string(::getpid()) + " (", 0), 0u) << why.text;
    EXPECT_NE(why.text.find(") is in the middle of a write"), std::string::npos) << why.text;
  }
}

TEST_F(turns, take_no_turn_away_after_the_limit) {
  {
    const writer_lock::turn first(one_, boot_clock::now());
    for (int k = 0; k < 3; ++k) EXPECT_THROW(writer_lock::turn(other_, boot_clock::now()), storage::failure);
  }
  const writer_lock::turn second(other_, boot_clock::now());
}

// A writer that has to wait takes its ticket before it sleeps: on a busy machine the other one would otherwise write
// hundreds of times first.
TEST_F(turns, go_to_a_waiting_writer_on_a_busy_machine) {
  std::atomic<bool> over{false};
  std::vector<std::jthread> busy;
  for (unsigned n = 0; n < 2 * std::thread::hardware_concurrency(); ++n) {
    busy.emplace_back([&] {
      while (!over) {
      }
    });
  }
  std::vector<int> overtaken;
  while (overtaken.size() < 21) {
    std::atomic<bool> served{false};
    std::binary_semaphore holds{0}, comes{0};
    std::jthread other([&] {
      std::optional<writer_lock::turn> its(std::in_place, one_, soon());
      holds.release();
      comes.acquire();
      const instant written = boot_clock::now() + 1ms;
      while (boot_clock::now() < written) {
      }
      int writes = 0;
      for (; !served && writes < 1000; ++writes) {
        its.reset();
        its.emplace(one_, soon());
      }
      overtaken.push_back(writes);
    });
    holds.acquire();
    comes.release();
    const writer_lock::turn mine(other_, soon());
    served = true;
  }
  over = true;
  // The median, because a thread may lose the processor before it calls.
  std::sort(overtaken.begin(), overtaken.end());
  EXPECT_LE(overtaken[10], 1);
}

TEST_F(turns, come_in_the_order_in_which_writers_began_to_wait) {
  writer_lock asked{folder_, 1h};
  std::deque<writer_lock> waiting;
  runtime::guarded<std::vector<std::size_t>> order;  // a sanitizer does not know a writer_lock
  std::vector<std::jthread> threads;
  {
    const writer_lock::turn first(asked, soon());
    for (std::size_t n = 0; n < 40; ++n) {
      threads.emplace_back([&order, &one = waiting.emplace_back(folder_, 1h), n] {
        const writer_lock::turn mine(one, soon());
        order.with([n](auto& all) { all.push_back(n); });
      });
      ASSERT_TRUE(test::eventually([&] { return asked.waiting() == n + 1; }));
    }
  }
  {
    const writer_lock::turn last(asked, soon());  // it comes back at once
    const std::vector<std::size_t> served = order.with([](const auto& all) { return all; });
    EXPECT_EQ(served.size(), 40u);
    EXPECT_TRUE(std::is_sorted(served.begin(), served.end()));
  }
}

/// Waits for a turn that it does not get.
bool wait_for_a_turn(const folder& in) {
  writer_lock its(in);
  const writer_lock::turn mine(its, boot_clock::now() + 1h);
  return true;
}

TEST_F(turns, pass_by_a_process_that_is_stopped_while_it_waits) {
  writer_lock impatient{folder_, 10ms};
  std::optional<writer_lock::turn> first(std::in_place, one_, soon());
  const test::child process([&] { return wait_for_a_turn(folder_); });
  EXPECT_TRUE(test::eventually([&] { return one_.waiting() == 1; }));
  process.stop();
  first.reset();
  for (int k = 0; k < 3; ++k) const writer_lock::turn next(impatient, soon());
  process.signal(SIGCONT);
}

TEST_F(turns, pass_by_a_process_that_is_killed_while_it_waits) {
  writer_lock patient{folder_, 1h};
  std::optional<writer_lock::turn> first(std::in_place, one_, soon());
  {
    const test::child process([&] { return wait_for_a_turn(folder_); });
    EXPECT_TRUE(test::eventually([&] { return one_.waiting() == 1; }));
    process.kill();
  }
  first.reset();
  const writer_lock::turn next(patient, soon());
}

TEST_F(turns, are_taken_although_the_numbers_in_the_file_are_wrong) {
  for (const std::uint64_t next : {0ull, 1ull, 1ull << 62, ~0ull - 1, ~0ull}) {
    for (const std::uint64_t served : {0ull, 1ull, 1ull << 62, ~0ull - 1, ~0ull}) {
      const std::array<std::uint64_t, 5> wrong{~0ull, ~0ull, next, served, ~0ull};
      std::fstream(folder_.file("writers"), std::ios::in | std::ios::out | std::ios::binary)
          .write(reinterpret_cast<const char*>(wrong.data()), sizeof wrong);
      {
        const writer_lock::turn first(one_, soon());
        EXPECT_THROW(writer_lock::turn(other_, boot_clock::now()), storage::failure);
      }
      for (int k = 0; k < 3; ++k) const writer_lock::turn again(other_, soon());
      EXPECT_EQ(one_.waiting(), 0u) << next << " " << served;
    }
  }
}

}  // namespace
}  // namespace holdfast::directory
