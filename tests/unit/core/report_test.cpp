#include "core/report.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "holdfast/error.hpp"
#include "support/manual_executor.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

namespace holdfast::core {
namespace {

using test::recorder;

void ignore(const char*) {}

event released_event(std::uint64_t fence) { return {.what = event::kind::released, .name = "a", .fence = fence}; }

TEST(reporter, reports_on_the_executor_in_order) {
  const auto seen = std::make_shared<recorder>();
  const reporter report(seen);
  test::manual_executor theirs;
  runtime::executor user(theirs.poster(), ignore);
  for (std::uint64_t k = 0; k < 10; ++k) report.tell(user, released_event(k));
  EXPECT_TRUE(seen->events().empty()) << "reported by the caller itself";
  theirs.run();
  ASSERT_EQ(seen->events().size(), 10u);
  for (std::uint64_t k = 0; k < 10; ++k) EXPECT_EQ(seen->events()[k].fence, k);
}

TEST(reporter, keeps_texts_until_they_are_reported) {
  const auto seen = std::make_shared<recorder>();
  const reporter report(seen);
  test::manual_executor theirs;
  runtime::executor user(theirs.poster(), ignore);
  {
    const std::string name(100, 'n'), text(100, 't');
    report.tell(user, {.what = event::kind::lost, .name = name, .why = errc::lost, .text = text});
  }
  theirs.run();
  ASSERT_EQ(seen->events().size(), 1u);
  EXPECT_EQ(seen->events()[0].name, std::string(100, 'n'));
  EXPECT_EQ(seen->events()[0].text, std::string(100, 't'));
  EXPECT_EQ(seen->events()[0].why, errc::lost);
}

TEST(reporter, does_nothing_without_an_observer) {
  const reporter report(nullptr);
  test::manual_executor theirs;
  runtime::executor user(theirs.poster(), ignore);
  report.tell(user, released_event(1));
  report.tell_here(released_event(1));
  EXPECT_EQ(theirs.waiting(), 0u);
}

/// Notices concurrent calls.
class one_at_a_time final : public observer {
 public:
  void on(const event&) noexcept override {
    if (inside_.exchange(true)) overlapped = true;
    ++told;
    inside_ = false;
  }
  std::atomic<bool> overlapped{false};
  std::atomic<int> told{0};

 private:
  std::atomic<bool> inside_{false};
};

TEST(reporter, reports_one_at_a_time_on_an_executor_with_many_threads) {
  const auto seen = std::make_shared<one_at_a_time>();
  const reporter report(seen);
  test::manual_executor theirs;
  runtime::executor user(theirs.poster(), ignore);
  test::threads tellers(2, [&](int) {
    for (std::uint64_t k = 0; k < 500; ++k) report.tell(user, released_event(k));
  });
  test::threads pool(3, [&](int) {
    while (seen->told < 1'000) {
      theirs.run();
      std::this_thread::yield();
    }
  });
  pool.join();
  EXPECT_EQ(seen->told, 1'000);
  EXPECT_FALSE(seen->overlapped);
}

TEST(reporter, reports_what_is_reported_on_the_executor_last) {
  const auto seen = std::make_shared<recorder>();
  const reporter report(seen);
  test::manual_executor theirs;
  runtime::executor user(theirs.poster(), ignore);
  report.tell(user, released_event(1));
  report.tell_here(released_event(2));
  theirs.run();
  ASSERT_EQ(seen->events().size(), 2u);
  EXPECT_EQ(seen->events()[0].fence, 1u);
  EXPECT_EQ(seen->events()[1].fence, 2u);
}

TEST(reporter, reports_again_after_an_executor_refused_once) {
  const auto seen = std::make_shared<recorder>();
  const reporter report(seen);
  bool refuses = true;
  test::manual_executor theirs;
  runtime::executor user(
      [&, post = theirs.poster()](runtime::executor::function f) {
        if (refuses) throw std::runtime_error("not today");
        post(std::move(f));
      },
      ignore);
  report.tell(user, released_event(1));
  refuses = false;
  report.tell(user, released_event(2));
  theirs.run();
  ASSERT_FALSE(seen->events().empty());
  EXPECT_EQ(seen->events().back().fence, 2u);
}

}  // namespace
}  // namespace holdfast::core
