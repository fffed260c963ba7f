// Which values an election rejects, and how it ends. Its behaviour is tested in tests/conformance/elections.cpp.
#include "holdfast/election.hpp"

#include <gtest/gtest.h>

#include "api/service.hpp"
#include "holdfast/holdfast.hpp"
#include "runtime/inline_io.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/memory_service.hpp"
#include "support/sanitizer.hpp"
#include "unit/api/code_of.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class election_api : public testing::Test {
 protected:
  errc making(std::string_view name, const lock_options& options = {}) {
    return code_of([&] { election made(store_, name, options); });
  }
  /// The cell in which leaders announce themselves.
  storage::reading announced() {
    runtime::inline_io here;
    core::reliable_cell c = detail::service::of(store_)->open_cell("election/a", "a");
    return run_inline(c.look(here, within(test::hang))).value();
  }
  const test::memory_service service_;
  store store_ = service_.open({.patience = 50ms});
};

TEST_F(election_api, rejects_bad_values) {
  EXPECT_EQ(making(""), errc::bad_name);
  EXPECT_EQ(making("a", {.ttl = 9ms}), errc::bad_option);
  EXPECT_EQ(making("a", {.label = std::string(257, 'x')}), errc::bad_option);
  EXPECT_EQ(making("a", {.shared = true}), errc::bad_option);
  EXPECT_EQ(making("a"), fine);
}

TEST_F(election_api, shows_label_and_fence_once_elected) {
  const std::string label(256, 'x');
  election here(store_, "a", {.label = label});
  const leadership leads = here.campaign();
  const leaders seen = here.observe();
  ASSERT_TRUE(seen.current());
  EXPECT_EQ(*seen.current(), (leader{leads.fence(), label}));
}

TEST_F(election_api, holds_the_lock_of_that_name) {
  std::optional<leadership> leads = election(store_, "a").campaign();
  EXPECT_FALSE(store_.try_acquire("a"));
  leads.reset();
  EXPECT_TRUE(store_.try_acquire("a"));
}

TEST_F(election_api, exposes_its_lease_and_renews_it) {
  election here(store_, "a", {.ttl = 10s});
  leadership leads = here.campaign();
  EXPECT_EQ(leads.as_lease().fence(), leads.fence());
  EXPECT_EQ(leads.as_lease().owner(), store_.inspect("a").holders.front().owner);
  EXPECT_TRUE(leads.renew(1h));
  EXPECT_GT(leads.as_lease().deadline(), boot_clock::now() + 50min);
  leads.resign();
  EXPECT_FALSE(leads.as_lease().held());
  EXPECT_FALSE(leads.renew(1h));
}

TEST_F(election_api, resigns_on_move_assignment) {
  election one(store_, "a"), other(store_, "b");
  leadership leads = one.campaign();
  leads = other.campaign();
  EXPECT_TRUE(leads.held());
  EXPECT_TRUE(store_.try_acquire("a"));
  leadership moved = std::move(leads);
  EXPECT_TRUE(moved.held());
  EXPECT_EQ(moved.resign(), released::yes);
  EXPECT_EQ(moved.resign(), released::yes);
}

TEST_F(election_api, withdraws_its_announcement_before_the_store_ends) {
  {
    store brief = service_.open();
    const leadership leads = election(brief, "a").campaign();
    EXPECT_TRUE(announced().there);
  }
  EXPECT_FALSE(announced().there);
}

TEST_F(election_api, keeps_leading_after_the_store_was_closed) {
  election here(store_, "a");
  leaders seen = here.observe();
  leadership leads = here.campaign();
  store_.close();
  EXPECT_TRUE(leads.held());
  EXPECT_EQ(code_of([&] { (void)here.campaign(); }), errc::closed);
  EXPECT_EQ(code_of([&] { (void)seen.wait_for_change(within(test::hang)); }), errc::closed);
  EXPECT_EQ(code_of([&] { (void)here.observe(); }), errc::closed);
  EXPECT_EQ(leads.resign(), released::yes);
}

TEST_F(election_api, never_overwrites_an_announcement_with_a_higher_fence) {
  runtime::inline_io here;
  core::reliable_cell c = detail::service::of(store_)->open_cell("election/a", "a");
  const std::uint64_t high = ~std::uint64_t{0};
  const storage::change newer{{1, 1}, high, "newer", 1h, false};
  ASSERT_TRUE(run_inline(c.put(here, announced().version, newer, within(test::hang))).is_yes());
  {
    const leadership leads = election(store_, "a", {.ttl = 60ms, .label = "older"}).campaign();
    EXPECT_EQ(announced().note, "newer");
    leaders seen = election(store_, "a").observe();
    EXPECT_FALSE(seen.wait_for_change(within(200ms)));
  }
  EXPECT_EQ(announced().number, high);
}

TEST_F(election_api, fails_to_observe_a_store_that_does_not_answer) {
  service_.lose_all_requests();
  EXPECT_EQ(code_of([&] { (void)election(store_, "a").observe(); }), errc::unreachable);
  EXPECT_EQ(code_of([&] { (void)election(store_, "a").campaign(); }), errc::unreachable);
  service_.heal();
}

#if !HOLDFAST_UNDER_TSAN
TEST_F(election_api, fails_in_a_forked_child_without_side_effects) {
  election here(store_, "a");
  std::optional<leadership> leads = here.campaign();
  std::optional<leaders> seen = here.observe();
  test::child son([&] {
    HOLDFAST_SHOULD(!leads->held());
    HOLDFAST_SHOULD(leads->resign() == released::unknown);
    HOLDFAST_SHOULD(code_of([&] { (void)here.campaign(); }) == errc::forked);
    HOLDFAST_SHOULD(code_of([&] { (void)here.observe(); }) == errc::forked);
    HOLDFAST_SHOULD(code_of([&] { (void)seen->wait_for_change(within(1s)); }) == errc::forked);
    leads.reset();
    seen.reset();
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_TRUE(leads->held());
  EXPECT_TRUE(announced().there);
}
#endif

}  // namespace
}  // namespace holdfast
