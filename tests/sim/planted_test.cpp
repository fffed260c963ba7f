// A checker that cannot fail proves nothing: each planted bug must be found, by the invariant that it breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "redis/script.hpp"
#include "sim/bugs.hpp"
#include "sim/lua_bugs.hpp"
#include "sim/run.hpp"

namespace holdfast::sim {
namespace {

class planted_bugs : public testing::TestWithParam<named_bug> {};

/// The invariants that a violation names: "I8, I10: text".
bool names(const std::string& violation, std::string_view invariant) {
  const std::string all = violation.substr(0, violation.find(':')) + ",";
  return all.find(std::string(invariant) + ",") != std::string::npos;
}

TEST_P(planted_bugs, is_found) {
  constexpr std::uint64_t enough = 20'000;
  planted_bug = GetParam().what;
  std::string found;
  std::map<std::string, int> others;
  std::uint64_t seed = GetParam().after;
  while (!names(found, GetParam().breaks) && seed < GetParam().after + enough) {
    found = run(++seed, GetParam().where).violation;
    if (!found.empty()) ++others[found.substr(0, found.find(':'))];
  }
  planted_bug = bug::none;
  EXPECT_TRUE(names(found, GetParam().breaks)) << GetParam().breaks << " was not seen in " << enough << " seeds";
  std::printf("found by seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
  for (const auto& [invariant, times] : others) std::printf("  %s in %d worlds\n", invariant.c_str(), times);
}

INSTANTIATE_TEST_SUITE_P(each, planted_bugs, testing::ValuesIn(bugs),
                         [](const auto& at) { return std::string(at.param.name); });

TEST(planted_bugs, are_all_in_the_list) {
  // The list is in the order of the enumeration, so that a new bug without a name is noticed.
  for (std::size_t n = 0; n < std::size(bugs); ++n) EXPECT_EQ(static_cast<std::size_t>(bugs[n].what), n + 1);
  EXPECT_EQ(static_cast<std::size_t>(bug::last), std::size(bugs));
}

TEST(planted_bugs, of_scripts_are_in_a_script) {
  for (const named_bug& b : bugs) {
    if (!is_in_lua(b.what)) continue;
    planted_bug = b.what;
    int changed = 0;
    using namespace redis::scripts;
    for (const redis::script& s :
         {acquire, renew, release, downgrade, acquire_shared, renew_shared, release_shared, take, renew_permits, give,
          resize, revoke, break_lock, vote, raise, withdraw, take_away}) {
      changed += with_planted_bug(std::string(s.text)) != s.text ? 1 : 0;
    }
    planted_bug = bug::none;
    EXPECT_GT(changed, 0) << b.name << ": the script has changed, and the bug is not in it any more";
  }
}

TEST(planted_bugs, are_there_for_every_invariant) {
  for (const char* invariant :
       {"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "I17"}) {
    EXPECT_TRUE(
        std::any_of(std::begin(bugs), std::end(bugs), [&](const named_bug& b) { return b.breaks == invariant; }))
        << invariant << " may be blind";
  }
}

}  // namespace
}  // namespace holdfast::sim
