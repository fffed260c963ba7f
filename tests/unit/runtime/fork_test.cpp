#include "runtime/fork.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/descriptor.hpp"
#include "runtime/random.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"
#include "unit/runtime/helpers.hpp"

#if !HOLDFAST_UNDER_TSAN

namespace holdfast::runtime {
namespace {

TEST(fork_generation, grows_by_one_with_every_fork) {
  const unsigned mine = fork_generation();
  test::child son([&] {
    HOLDFAST_SHOULD(fork_generation() == mine + 1);
    test::child grandson([&] { return fork_generation() == mine + 2; });
    return grandson.ends_well();
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_EQ(fork_generation(), mine);
}

TEST(closed_in_children, closes_a_descriptor_in_the_child_only) {
  const descriptor fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");
  const closed_in_children closed(fd.get());
  test::child son([&] { return !is_open(fd.get()); });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(is_open(fd.get()));
}

TEST(closed_in_children, ignores_a_descriptor_that_was_removed) {
  const descriptor fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");
  {
    const closed_in_children closed(fd.get());
  }
  test::child son([&] { return is_open(fd.get()); });
  EXPECT_TRUE(son.ends_well());
}

TEST(random, differs_in_a_forked_child) {
  std::set<std::uint64_t> mine;
  mine.insert(random_bits());  // fills the pool, which the child inherits
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  test::child son([&] {
    for (int k = 0; k < 32; ++k) {
      const std::uint64_t n = random_bits();
      HOLDFAST_SHOULD(::write(pipe[1], &n, sizeof n) == sizeof n);
    }
    return true;
  });
  for (int k = 0; k < 32; ++k) mine.insert(random_bits());
  ASSERT_TRUE(son.ends_well());
  for (int k = 0; k < 32; ++k) {
    std::uint64_t n = 0;
    ASSERT_EQ(::read(pipe[0], &n, sizeof n), static_cast<ssize_t>(sizeof n));
    mine.insert(n);
  }
  EXPECT_EQ(mine.size(), 65u);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace holdfast::runtime

#endif
