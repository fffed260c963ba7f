#include "runtime/guarded.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

TEST(guarded, starts_value_initialized) {
  const guarded<int> number;
  EXPECT_EQ(number.with([](const int& n) { return n; }), 0);
}

TEST(guarded, returns_the_result_of_the_function) {
  guarded<std::string> text;
  EXPECT_EQ(text.with([](std::string& t) { return (t += "here").size(); }), 4u);
  static_assert(std::is_void_v<decltype(text.with([](std::string&) {}))>);
}

TEST(guarded, excludes_other_threads) {
  guarded<int> number;
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 5'000; ++k) number.with([](int& n) { ++n; });
    });
  }
  EXPECT_EQ(number.with([](int n) { return n; }), 20'000);
}

TEST(guarded, unlocks_when_the_function_throws) {
  guarded<int> number;
  EXPECT_THROW(number.with([](int&) { throw 1; }), int);
  EXPECT_EQ(number.with([](int n) { return n; }), 0);
}

}  // namespace
}  // namespace holdfast::runtime
