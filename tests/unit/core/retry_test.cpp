#include "core/retry.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "runtime/task_group.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using retried = storage::answer<int>;

retried unanswered() { return retried::unknown(storage::failure::late("no answer")); }

class retry_test : public testing::Test {
 protected:
  /// Repeats a request whose tries take half of their limit and end with next().
  retried retry(const retry_rule& rule, const std::function<retried()>& next) {
    began_ = io_.now();
    const auto ask = [&](const limit& one) {
      ++tries_;
      return one_try(one, next);
    };
    std::future<retried> end = test::start(running_, retry_until_answered<int>(io_, silence_, rule, ask));
    for (io_.run(); !test::is_ready(end);) io_.advance(1ms);
    return end.get();
  }
  runtime::task<retried> one_try(limit until, const std::function<retried()>& next) {
    const limit half(io_.now() + (until.at() - io_.now()) / 2);
    const runtime::wake why = co_await sleep(io_, half);
    (void)why;
    co_return next();
  }
  [[nodiscard]] retry_rule within(span time) const {
    return retry_rule::within(limit(io_.now() + time), io_.now(), 5s);
  }
  [[nodiscard]] runtime::span took() const { return io_.now() - began_; }

  test::manual_io io_;
  runtime::task_group running_{io_};
  silence silence_;
  int tries_ = 0;

 private:
  runtime::instant began_{};
};

TEST_F(retry_test, repeats_a_request_until_it_is_answered) {
  retried got = retry(within(1min), [&] { return tries_ < 3 ? unanswered() : retried::yes(7); });
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(got.value(), 7);
  EXPECT_EQ(tries_, 3);
}

TEST_F(retry_test, ends_with_patience_or_with_its_limit) {
  EXPECT_TRUE(retry(within(1min), unanswered).is_unknown());
  EXPECT_EQ(took(), 5s);
  EXPECT_TRUE(retry(within(1s), unanswered).is_unknown());
  EXPECT_EQ(took(), 1s);
}

TEST_F(retry_test, ends_after_an_error_that_asking_again_cannot_fix) {
  retried got = retry(within(1min), [] { return retried::unknown(storage::failure(errc::denied, "")); });
  EXPECT_EQ(got.why().code, errc::denied);
  EXPECT_EQ(tries_, 1);
}

TEST_F(retry_test, keeps_on_after_such_an_error_in_the_background) {
  retry_rule rule = within(1min);
  rule.background = true;
  EXPECT_TRUE(retry(rule, [] { return retried::unknown(storage::failure(errc::denied, "")); }).is_unknown());
  EXPECT_GT(tries_, 1);
  EXPECT_GE(took(), 5s);
}

TEST_F(retry_test, passes_exceptions_on_unless_they_count_as_unknown) {
  const auto throws = [&]() -> retried {
    if (tries_ == 1) throw std::runtime_error("no memory");
    return retried::yes(7);
  };
  EXPECT_THROW((void)retry(within(1min), throws), std::runtime_error);
  tries_ = 0;
  retry_rule rule = within(1min);
  rule.catch_errors = true;
  EXPECT_TRUE(retry(rule, throws).is_yes());
}

TEST_F(retry_test, stops_in_a_pause) {
  std::stop_source stop;
  retry_rule rule = within(1min);
  rule.stop = stop.get_token();
  const auto next = [&] {
    stop.request_stop();
    return unanswered();
  };
  EXPECT_TRUE(retry(rule, next).is_unknown());
  EXPECT_EQ(tries_, 1);
}

}  // namespace
}  // namespace holdfast::core
