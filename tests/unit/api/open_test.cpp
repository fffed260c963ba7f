#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "holdfast/store.hpp"

namespace holdfast {
namespace {

std::string refusal_of(std::string_view url) {
  try {
    (void)open(url);
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_url) << url;
    return e.what();
  }
  ADD_FAILURE() << "accepted: " << url;
  return {};
}

TEST(open, rejects_an_unknown_scheme_and_lists_the_known_ones) {
  const std::string why = refusal_of("gopher://host");
  EXPECT_NE(why.find("'gopher:'"), std::string::npos) << why;
  EXPECT_NE(why.find("memory"), std::string::npos) << why;
}

TEST(open, never_quotes_a_possible_secret) {
  for (const char* url : {"nosuch://user:hunter2@host:1", "nosuch:hunter2", "hunter2@host", "nosuch://hunter2"}) {
    const std::string why = refusal_of(url);
    EXPECT_EQ(why.find("hunter2"), std::string::npos) << why;
  }
}

TEST(open, rejects_text_that_is_not_a_url) {
  for (const char* url : {"memory", ":", "://", " memory:", "MEMORY"}) (void)refusal_of(url);
}

TEST(open, shares_memory_stores_by_name) {
  store own = open("memory:"), another = open("memory:");
  const lease first = own.acquire("a");
  EXPECT_TRUE(another.try_acquire("a"));
  store shared = open("memory:open-test"), same = open("memory:open-test"), other = open("memory:open-test-2");
  const lease second = shared.acquire("a");
  EXPECT_FALSE(same.try_acquire("a"));
  EXPECT_TRUE(other.try_acquire("a"));
}

TEST(open, shows_the_url_that_was_opened) {
  EXPECT_EQ(open("memory:").url(), "memory:");
  EXPECT_EQ(open("memory:open-test").url(), "memory:open-test");
  EXPECT_TRUE(open("memory:").promises().fair);
}

TEST(open, shows_a_url_without_opening_it_and_without_its_password) {
  EXPECT_EQ(shown_url("redis://user:hunter2@host:1/2?prefix=a"), "redis://user@host:1/2?prefix=a");
  EXPECT_EQ(shown_url("redis://host?password_file=/a"), "redis://host?password_file=/a");
  EXPECT_EQ(shown_url("dir:/nowhere/at all"), "dir:/nowhere/at all");
  EXPECT_EQ(shown_url().find("dir:/"), 0U);
  EXPECT_EQ(shown_url("nosuch://hunter2"), "nosuch:");
  for (const char* url : {"hunter2", "hunter2@host", "nosuch:hunter2", "a@hunter2:b"}) {
    EXPECT_EQ(shown_url(url).find("hunter2"), std::string::npos) << url;
  }
}

auto threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(open, starts_no_thread) {
  const auto before = threads_of_this_process();
  const store unused = open("memory:");
  EXPECT_EQ(threads_of_this_process(), before);
}

}  // namespace
}  // namespace holdfast
