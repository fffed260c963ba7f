#include "runtime/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <system_error>

#include "unit/runtime/helpers.hpp"

namespace holdfast::runtime {
namespace {

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(descriptor, is_empty_by_default) { EXPECT_EQ(descriptor().get(), -1); }

TEST(descriptor, closes_itself) {
  int fd = -1;
  {
    const descriptor d(open_something());
    fd = d.get();
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(descriptor, closes_the_old_one_on_assignment) {
  descriptor d(open_something());
  const int first = d.get();
  d = descriptor(open_something());
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(d.get()));
}

TEST(descriptor, closes_nothing_after_it_was_moved_from) {
  descriptor to;
  {
    descriptor from(open_something());
    descriptor between(std::move(from));
    to = std::move(between);
  }
  EXPECT_TRUE(is_open(to.get()));
}

TEST(descriptor, throws_with_the_error_and_the_name_of_a_failed_call) {
  try {
    const descriptor d(::open("/no/such/file", O_RDONLY | O_CLOEXEC), "open");
    FAIL() << "no error";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(std::string(e.what()).rfind("open", 0), 0u) << e.what();
  }
}

TEST(descriptor, names_the_limit_when_no_descriptor_is_left) {
  const auto text_of = [](int error) {
    try {
      errno = error;
      throw_errno("socket");
    } catch (const std::system_error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_NE(text_of(EMFILE).find("no file descriptor left (EMFILE); raise ulimit -n, or share one store"),
            std::string::npos);
  EXPECT_NE(text_of(ENFILE).find("(ENFILE); raise fs.file-max"), std::string::npos);
  EXPECT_EQ(text_of(EACCES).rfind("socket", 0), 0u);
}

}  // namespace
}  // namespace holdfast::runtime
