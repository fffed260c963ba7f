// A checker that cannot fail proves nothing: each seeded bug must be found, by the invariant that it breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>

#include "redis/protocol/script.hpp"
#include "sim/bugs.hpp"
#include "sim/lua_bugs.hpp"
#include "sim/seeded_search.hpp"
#include "support/test_level.hpp"

namespace holdfast::sim {
namespace {

class seeded_bugs : public testing::TestWithParam<named_bug> {};

const recorded_seeds recorded = read_recorded_seeds();
int at_recorded_seed = 0, by_search = 0;

TEST_P(seeded_bugs, is_found) {
  const named_bug& b = GetParam();
  const auto record = recorded.find(b.name);
  if (record != recorded.end() && finds(record->second, b)) {
    ++at_recorded_seed;
    return;
  }
  const search_result now = search(b);
  ASSERT_TRUE(now.seed) << b.breaks << " was not seen in " << enough_seeds << " seeds";
  ++by_search;
  std::printf("found by seed %llu: %s\n", static_cast<unsigned long long>(*now.seed), now.violation.c_str());
  for (const auto& [invariant, times] : now.others) std::printf("  %s in %d worlds\n", invariant.c_str(), times);
  // At level test a stale record costs time only. At level check it is an error, so that they do not pile up.
  if (test::level() == test::test_level::test) return;
  const std::string what = record == recorded.end()
                               ? "no seed is recorded"
                               : "the recorded seed " + std::to_string(record->second) + " is stale";
  ADD_FAILURE() << what << "; seed " << *now.seed << " finds " << b.name << ". Update with: scripts/record_seeds";
}

/// Says at the very end, where it is not overlooked, whether the records are stale.
class stale_records : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::printf("%d seeded bugs found at the recorded seed, %d by a search%s\n", at_recorded_seed, by_search,
                by_search == 0 ? "" : ": recorded seeds are stale, update them with scripts/record_seeds");
  }
};
[[maybe_unused]] const bool reports = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new stale_records);  // which deletes it
  return true;
}();

INSTANTIATE_TEST_SUITE_P(each, seeded_bugs, testing::ValuesIn(bugs),
                         [](const auto& at) { return std::string(at.param.name); });

TEST(seeded_bugs, are_all_in_the_list) {
  // The list is in the order of the enumeration, so that a new bug without a name is noticed.
  for (std::size_t n = 0; n < std::size(bugs); ++n) EXPECT_EQ(static_cast<std::size_t>(bugs[n].what), n + 1);
  EXPECT_EQ(static_cast<std::size_t>(bug::last), std::size(bugs));
}

TEST(seeded_bugs, exist_for_each_recorded_seed) {
  for (const auto& [name, seed] : recorded)
    EXPECT_TRUE(bug_called(name)) << name << " is recorded, but there is no such bug";
}

TEST(seeded_bugs, of_scripts_are_in_a_script) {
  for (const named_bug& b : bugs) {
    if (!is_in_lua(b.what)) continue;
    seeded_bug = b.what;
    int changed = 0;
    using namespace redis::scripts;
    for (const redis::script& s :
         {acquire, renew, release, downgrade, acquire_shared, renew_shared, release_shared, take, renew_permits, give,
          resize, revoke, break_lock, vote, raise, withdraw, take_away}) {
      changed += with_seeded_bug(std::string(s.text)) != s.text ? 1 : 0;
    }
    seeded_bug = bug::none;
    EXPECT_GT(changed, 0) << b.name << ": the script has changed, and the bug is not in it any more";
  }
}

TEST(seeded_bugs, are_there_for_every_invariant) {
  for (const char* invariant :
       {"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "I17"}) {
    EXPECT_TRUE(
        std::any_of(std::begin(bugs), std::end(bugs), [&](const named_bug& b) { return b.breaks == invariant; }))
        << invariant << " may be blind";
  }
}

}  // namespace
}  // namespace holdfast::sim
