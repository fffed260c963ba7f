// Which values a latch rejects, and how it ends. Its behaviour is tested in tests/conformance/latches.cpp.
#include "holdfast/latch.hpp"

#include <gtest/gtest.h>

#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/memory_service.hpp"
#include "support/sanitizer.hpp"
#include "unit/api/code_of.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class latch_api : public testing::Test {
 protected:
  errc making(std::string_view name, std::ptrdiff_t expected, const latch_options& options = {}) {
    return code_of([&] { latch made(store_, name, expected, options); });
  }
  const test::memory_service service_;
  store store_ = service_.open({.patience = 50ms});
};

TEST_F(latch_api, rejects_bad_values_before_anything_is_sent) {
  EXPECT_EQ(making("", 1), errc::bad_name);
  EXPECT_EQ(making(std::string(513, 'x'), 1), errc::bad_name);
  EXPECT_EQ(making("a", 0), errc::bad_option);
  EXPECT_EQ(making("a", -1), errc::bad_option);
  EXPECT_EQ(making("a", 1, {.ttl = 9ms}), errc::bad_option);
  EXPECT_EQ(making("a", 1, {.ttl = 366 * 24h}), errc::bad_option);
  EXPECT_EQ(making("a", 1, {.ttl = 365 * 24h}), fine);
  EXPECT_EQ(making(std::string(512, 'x'), PTRDIFF_MAX), fine);
  latch counts(store_, "a", 2);
  EXPECT_EQ(code_of([&] { counts.count_down(0); }), errc::bad_option);
  EXPECT_EQ(code_of([&] { counts.count_down(-1); }), errc::bad_option);
  EXPECT_EQ(code_of([&] { counts.arrive_and_wait(0); }), errc::bad_option);
  EXPECT_EQ(service_.server().numbers().size(), 0u) << "something was sent";
  EXPECT_EQ(code_of([&] { counts.count_down(3); }), errc::bad_option);
  EXPECT_FALSE(counts.try_wait());
}

TEST_F(latch_api, names_both_counts_when_they_disagree) {
  latch(store_, "a", 2).count_down();
  try {
    latch(store_, "a", 3).count_down();
    FAIL();
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::foreign);
    EXPECT_NE(std::string(e.what()).find("a latch of 2, not of 3"), std::string::npos) << e.what();
  }
}

TEST_F(latch_api, counts_down_by_the_largest_number) {
  latch counts(store_, "a", PTRDIFF_MAX);
  counts.count_down(PTRDIFF_MAX - 1);
  EXPECT_FALSE(counts.try_wait());
  counts.count_down();
  EXPECT_TRUE(counts.try_wait());
}

TEST_F(latch_api, reports_an_unknown_count_only_if_it_was_sent) {
  latch counts(store_, "a", 2);
  const auto what = [&] {
    try {
      counts.count_down();
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::unreachable);
      return std::string(e.what());
    }
    return std::string();
  };
  service_.lose_all_requests();
  EXPECT_EQ(what().find("not known"), std::string::npos) << "it had not read the latch";
  service_.heal();
  counts.count_down();
  counts.count_down();
  EXPECT_TRUE(counts.try_wait());
}

TEST_F(latch_api, reports_that_the_store_is_closed) {
  latch counts(store_, "a", 1);
  store_.close();
  EXPECT_EQ(code_of([&] { counts.count_down(); }), errc::closed);
  EXPECT_EQ(code_of([&] { (void)counts.try_wait(); }), errc::closed);
  EXPECT_EQ(code_of([&] { counts.wait(); }), errc::closed);
  EXPECT_EQ(code_of([&] { (void)counts.wait(within(1h)); }), errc::closed);
}

TEST_F(latch_api, does_not_wait_with_a_token_already_stopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(latch(store_, "a", 1).wait(until(stop.get_token())));
}

#if !HOLDFAST_UNDER_TSAN
TEST_F(latch_api, fails_in_a_forked_child_without_side_effects) {
  auto counts = std::make_unique<latch>(store_, "a", 1);
  test::child son([&] {
    HOLDFAST_SHOULD(code_of([&] { counts->count_down(); }) == errc::forked);
    HOLDFAST_SHOULD(code_of([&] { (void)counts->try_wait(); }) == errc::forked);
    counts.reset();
    return true;
  });
  EXPECT_TRUE(son.ends_well());
  EXPECT_FALSE(counts->try_wait());
}
#endif

}  // namespace
}  // namespace holdfast
