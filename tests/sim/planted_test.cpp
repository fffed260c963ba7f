// A checker that cannot fail proves nothing: each planted bug must be found.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>

#include "sim/bugs.hpp"
#include "sim/run.hpp"

namespace holdfast::sim {
namespace {

class planted_bugs : public testing::TestWithParam<named_bug> {};

TEST_P(planted_bugs, is_found) {
  constexpr std::uint64_t enough = 20'000;
  planted_bug = GetParam().what;
  std::string found;
  std::uint64_t seed = 0;
  while (found.empty() && seed < enough) found = run(++seed).violation;
  planted_bug = bug::none;
  EXPECT_NE(found, "") << "not found in " << enough << " seeds";
  std::printf("found by seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
}

INSTANTIATE_TEST_SUITE_P(each, planted_bugs, testing::ValuesIn(bugs),
                         [](const auto& at) { return std::string(at.param.name); });

TEST(planted_bugs, are_all_in_the_list) {
  // The list is in the order of the enumeration, so that a new bug without a name is noticed.
  for (std::size_t n = 0; n < std::size(bugs); ++n) EXPECT_EQ(static_cast<std::size_t>(bugs[n].what), n + 1);
  EXPECT_EQ(static_cast<std::size_t>(bug::last), std::size(bugs));
}

}  // namespace
}  // namespace holdfast::sim
