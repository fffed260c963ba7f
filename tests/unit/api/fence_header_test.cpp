#include "holdfast/fence_header.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

TEST(fence_header, parses_what_it_formats) {
  for (const std::uint64_t fence :
       {std::uint64_t{1}, std::uint64_t{10}, (std::uint64_t{1} << 53) + 1, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(parse_fence(format_fence(fence)), fence);
  }
  EXPECT_EQ(format_fence(1'763'251'200'000'001), "1763251200000001");
}

TEST(fence_header, rejects_text_that_is_not_exactly_a_fence) {
  for (const std::string_view text :
       {"", "0", "00", "01", "+1", "-1", " 1", "1 ", "1\n", "1\t", "1,2", "1.0", "1e3", "0x1", "a", "1a",
        "18446744073709551616", "99999999999999999999", "100000000000000000000000000000000000000"}) {
    EXPECT_FALSE(parse_fence(text)) << '"' << text << '"';
  }
  EXPECT_FALSE(parse_fence(std::string_view("1\0", 2)));
  EXPECT_FALSE(parse_fence(format_fence(0))) << "the fence of a lease that never held anything";
}

}  // namespace
}  // namespace holdfast
