#include "holdfast/fence_gate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <system_error>

#include "support/child.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"
#include "support/threads.hpp"

namespace holdfast {
namespace {

constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();

TEST(fence_gate, admits_a_fence_not_lower_than_the_highest_seen) {
  fence_gate gate;
  EXPECT_FALSE(gate.admit(0)) << "no fence";
  EXPECT_TRUE(gate.admit(7));
  EXPECT_TRUE(gate.admit(7)) << "the same holder again";
  EXPECT_FALSE(gate.admit(6));
  EXPECT_TRUE(gate.admit(8));
  EXPECT_TRUE(gate.admit(highest));
  EXPECT_FALSE(gate.admit(highest - 1));
}

TEST(fence_gate, never_goes_back_under_concurrent_use) {
  fence_gate gate;
  std::atomic<std::uint64_t> admitted{0};
  std::atomic<int> wrong{0};
  {
    const test::threads all(4, [&](int me) {
      for (std::uint64_t k = 0; k < 2'000; ++k) {
        const std::uint64_t before = admitted, mine = 4 * k + static_cast<std::uint64_t>(me);
        if (!gate.admit(mine)) continue;
        if (mine < before) ++wrong;  // a higher fence had been admitted before
        for (std::uint64_t seen = admitted; seen < mine && !admitted.compare_exchange_weak(seen, mine);) {
        }
      }
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(admitted, 7'999u);
  EXPECT_FALSE(gate.admit(7'998));
}

TEST(fence_gates, admit_per_resource_and_run_the_access) {
  fence_gates gates;
  const auto admits = [&](const char* resource, std::uint64_t fence) {
    bool ran = false;
    const bool admitted = gates.admit(resource, fence, [&] { ran = true; });
    EXPECT_EQ(ran, admitted);
    return admitted;
  };
  EXPECT_TRUE(admits("seat/7", 5));
  EXPECT_TRUE(admits("seat/7", 5));
  EXPECT_FALSE(admits("seat/7", 4));
  EXPECT_TRUE(admits("seat/8", 4)) << "another resource";
  EXPECT_TRUE(admits("seat/7", 6));
  EXPECT_FALSE(admits("seat/7", 5));
}

TEST(fence_gates, rethrow_from_the_access_and_keep_its_fence) {
  fence_gates gates;
  EXPECT_THROW(gates.admit("a", 7, [] { throw 1; }), int);
  EXPECT_FALSE(gates.admit("a", 6, [] {}));
  EXPECT_TRUE(gates.admit("a", 7, [] {}));
}

TEST(fence_gates, serialize_accesses_to_each_resource_only) {
  fence_gates gates;
  int guarded_by_it = 0;
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 1'000; ++k) (void)gates.admit("a", 1, [&] { ++guarded_by_it; });
    });
  }
  EXPECT_EQ(guarded_by_it, 4'000);
  EXPECT_TRUE(gates.admit("a", 1, [&] { EXPECT_TRUE(gates.admit("b", 1, [] {})); }));
}

class file_gate : public testing::Test {
 protected:
  [[nodiscard]] bool admits(std::uint64_t fence) const {
    bool ran = false;
    const bool admitted = file_fence_gate(path_).admit(fence, [&] { ran = true; });
    EXPECT_EQ(ran, admitted);
    return admitted;
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  const test::temporary_folder folder_;
  const std::string path_ = folder_.file("fence");
};

TEST_F(file_gate, admits_like_fence_gate_and_persists) {
  EXPECT_FALSE(admits(0)) << "no fence";
  EXPECT_TRUE(admits(7));
  EXPECT_TRUE(admits(7));
  EXPECT_FALSE(admits(6));
  EXPECT_TRUE(admits(highest));
  EXPECT_FALSE(admits(highest - 1));
  EXPECT_TRUE(admits(highest));
}

TEST_F(file_gate, rethrows_from_the_access_and_unlocks) {
  const file_fence_gate gate(path_);
  EXPECT_THROW(gate.admit(7, [] { throw 1; }), int);
  EXPECT_TRUE(admits(7));
  EXPECT_FALSE(admits(6)) << "the fence must be remembered although the access failed";
}

TEST_F(file_gate, rejects_a_file_with_other_content) {
  {
    const file_fence_gate gate(path_);
  }
  for (const char* text : {"garbage", "7", "00000000000000000007", "0000000000000000000x\n", "-0000000000000000007\n",
                           "99999999999999999999\n", "00000000000000000007 "}) {
    write(text);
    EXPECT_THROW(file_fence_gate{path_}, std::system_error) << text;
    EXPECT_THROW((void)admits(highest), std::system_error) << text;
  }
  write("00000000000000000007\n");
  EXPECT_FALSE(admits(6));
  EXPECT_TRUE(admits(7));
}

TEST_F(file_gate, denies_access_after_the_file_was_corrupted) {
  const file_fence_gate gate(path_);
  write("spoilt");
  bool ran = false;
  EXPECT_THROW(gate.admit(7, [&] { ran = true; }), std::system_error);
  EXPECT_FALSE(ran);
}

TEST_F(file_gate, denies_access_after_the_file_was_deleted) {
  const file_fence_gate gate(path_);
  EXPECT_TRUE(gate.admit(7, [] {}));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  bool ran = false;
  EXPECT_THROW(gate.admit(6, [&] { ran = true; }), std::system_error);
  EXPECT_FALSE(ran);
}

TEST_F(file_gate, rejects_a_path_that_cannot_be_opened) {
  EXPECT_THROW(file_fence_gate(folder_.file("no/such/folder")), std::system_error);
  EXPECT_THROW(file_fence_gate("/"), std::system_error);
  try {
    const file_fence_gate gate(folder_.file("no/such/folder"));
  } catch (const std::system_error& e) {
    EXPECT_NE(std::string(e.what()).find("no/such/folder"), std::string::npos) << e.what();
  }
}

TEST_F(file_gate, excludes_other_threads) {
  const file_fence_gate gate(path_);
  int guarded_by_it = 0;
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 25; ++k) (void)gate.admit(1, [&] { ++guarded_by_it; });
    });
  }
  EXPECT_EQ(guarded_by_it, 100);
}

#if !HOLDFAST_UNDER_TSAN

TEST_F(file_gate, excludes_other_processes_and_shares_its_fence) {
  const std::string counter = folder_.file("counter");
  std::ofstream(counter) << 0;
  const auto count = [&] {
    int n = 0;
    std::ifstream(counter) >> n;
    std::ofstream(counter) << n + 1;
  };
  const auto many_times = [&] {
    const file_fence_gate gate(path_);
    for (int k = 0; k < 50; ++k) HOLDFAST_SHOULD(gate.admit(1, count));
    return true;
  };
  {
    test::child first(many_times), second(many_times);
    EXPECT_TRUE(first.ends_well());
    EXPECT_TRUE(second.ends_well());
  }
  int n = 0;
  std::ifstream(counter) >> n;
  EXPECT_EQ(n, 100);
  test::child newer([&] { return file_fence_gate(path_).admit(9, [] {}); });
  EXPECT_TRUE(newer.ends_well());
  EXPECT_FALSE(admits(8));
}

TEST_F(file_gate, unlocks_when_a_process_dies_during_its_access) {
  test::child dying([&] {
    (void)file_fence_gate(path_).admit(7, [] { ::_exit(0); });
    return false;
  });
  EXPECT_TRUE(dying.ends_well());
  EXPECT_FALSE(admits(6));
  EXPECT_TRUE(admits(7));
}

#endif

}  // namespace
}  // namespace holdfast
