#include "watch/changes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "text/state.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using kind = change::kind;

class watching : public testing::Test {
 protected:
  static state::holder by(const std::string& owner, std::uint64_t fence = 1) {
    state::holder h;
    h.owner = owner;
    h.label = owner;
    h.fence = fence;
    return h;
  }
  static state held(std::vector<state::holder> those, std::size_t waiting = 0) {
    state s;
    s.holding = those.size();
    s.holders = std::move(those);
    s.waiting = waiting;
    return s;
  }
  std::vector<change> see(const state& now, boot_clock::duration later = 1s) {
    seen_.begin_round();
    return seen_.see({"a", now}, time_ += later);
  }
  void expect(const std::vector<change>& found, const std::vector<kind>& kinds) {
    ASSERT_EQ(found.size(), kinds.size());
    for (std::size_t n = 0; n < kinds.size(); ++n) EXPECT_EQ(found[n].what, kinds[n]);
  }
  changes seen_;
  boot_clock::time_point time_{};
};

TEST_F(watching, reports_present_locks_first) { expect(see(held({by("x")}, 2)), {kind::present}); }

TEST_F(watching, reports_nothing_without_changes) {
  (void)see(held({by("x")}, 2));
  expect(see(held({by("x")}, 2)), {});
}

TEST_F(watching, reports_acquired_and_released) {
  (void)see(held({by("x")}));
  const auto gone = see({});
  expect(gone, {kind::released});
  EXPECT_EQ(gone[0].from->owner, "x");
  EXPECT_FALSE(gone[0].perhaps_lost);
  const auto come = see(held({by("y", 2)}));
  expect(come, {kind::acquired});
  EXPECT_EQ(come[0].to->fence, 2U);
}

TEST_F(watching, reports_a_hand_over_as_one_change) {
  (void)see(held({by("x")}, 1));
  const auto found = see(held({by("y", 2)}));
  expect(found, {kind::handed_over});
  EXPECT_EQ(found[0].from->owner, "x");
  EXPECT_EQ(found[0].to->owner, "y");
}

TEST_F(watching, distinguishes_two_leases_of_one_owner) {
  (void)see(held({by("x", 1)}));
  expect(see(held({by("x", 65)})), {kind::handed_over});
}

TEST_F(watching, marks_a_release_after_the_ttl_as_perhaps_lost) {
  state::holder h = by("x");
  h.left = 900ms;
  (void)see(held({h}));
  EXPECT_TRUE(see({}, 1s).at(0).perhaps_lost);
  (void)see(held({h}));
  EXPECT_FALSE(see({}, 800ms).at(0).perhaps_lost);
}

TEST_F(watching, reports_a_break) {
  (void)see(held({by("x")}, 1));
  state after = held({by("y", 2)});
  after.broken = state::note{.reason = "stuck", .by = "ada", .fence = 1, .at = {}};
  const auto found = see(after);
  expect(found, {kind::broken, kind::acquired});
  EXPECT_EQ(nlohmann::json::parse(to_line(to_json(found[0], {})))["broken"]["reason"], "stuck");
  expect(see(held({by("z", 3)})), {kind::handed_over});  // an old note is not a change
}

TEST_F(watching, reports_each_reader) {
  const auto reader = [](const std::string& owner) {
    state::holder h = by(owner);
    h.reads = true;
    return h;
  };
  (void)see(held({reader("x"), reader("y")}));
  expect(see(held({reader("y"), reader("z")})), {kind::released, kind::acquired});
}

TEST_F(watching, reports_the_count_if_not_all_holders_are_listed) {
  state many = held({by("x"), by("y")});
  many.holding = 20;
  (void)see(many);
  many.holding = 21;
  expect(see(many), {kind::holders});
}

TEST_F(watching, reports_waiters_only_without_other_changes) {
  (void)see(held({by("x")}, 1));
  expect(see(held({by("x")}, 2)), {kind::waiting});
  expect(see(held({by("y", 2)}, 1)), {kind::handed_over});
  expect(see(held({}, 1)), {kind::released});
}

TEST_F(watching, reports_a_revoke_request) {
  (void)see(held({by("x")}));
  state asked = held({by("x")});
  asked.asked = state::note{.reason = "deploy", .by = {}, .fence = 0, .at = {}};
  expect(see(asked), {kind::asked});
  expect(see(asked), {});
}

TEST_F(watching, lists_names_missing_in_a_round) {
  (void)see(held({by("x")}));
  seen_.begin_round();
  EXPECT_EQ(seen_.missing(), std::vector<std::string>{"a"});
  expect(seen_.see({"a", {}}, time_), {kind::released});
  EXPECT_TRUE(seen_.missing().empty());
}

TEST_F(watching, formats_a_change_as_one_line) {
  (void)see(held({by("x")}, 1));
  const auto found = see(held({by("y", 2)}));
  EXPECT_EQ(to_text(found[0], {}, {}).substr(9), "handed over a                        x -> y, fence 2; 0 waiting");
  EXPECT_EQ(to_text(found[0], {}, 20).substr(9), "handed ove…");
  EXPECT_EQ(nlohmann::json::parse(to_line(to_json(found[0], {})))["event"], "handed_over");
}

}  // namespace
}  // namespace holdfast::cli
