// Every function rejects bad values with a clear error before anything is sent.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "holdfast/holdfast.hpp"
#include "support/memory_service.hpp"
#include "unit/api/code_of.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class bad_input : public testing::Test {
 protected:
  ~bad_input() override { EXPECT_EQ(service_.server().size(), 0u) << "something was sent"; }

  /// Calls each function that takes a name and options, and checks its error.
  std::map<std::string, errc> answers(std::string_view name, const lock_options& options) {
    std::map<std::string, errc> all;
    all["acquire"] = code_of([&] { (void)store_.acquire(name, options); });
    all["try_acquire"] = code_of([&] { (void)store_.try_acquire(name, options); });
    all["try_acquire within"] = code_of([&] { (void)store_.try_acquire(name, within(1s), options); });
    std::error_code why;
    (void)store_.try_acquire(name, within(1s), options, why);
    all["try_acquire with a code"] = why ? static_cast<errc>(why.value()) : fine;
    all["async_acquire"] = code_of([&] { (void)store_.async_acquire(name, options); });
    all["async_try_acquire"] = code_of([&] { (void)store_.async_try_acquire(name, within(1s), options); });
    all["mutex"] = code_of([&] { const mutex m(store_, name, options); });
    return all;
  }
  void expect(errc code, std::string_view name, const lock_options& options = {}) {
    for (const auto& [function, answer] : answers(name, options)) EXPECT_EQ(answer, code) << function;
    if (code == fine) return;
    const auto never_called = [](std::error_code, const std::optional<lease>&) { FAIL() << "called back"; };
    EXPECT_EQ(code_of([&] { store_.async_try_acquire(name, within(1s), options, never_called); }), code);
  }

  const test::memory_service service_;
  store store_ = service_.open();
};

TEST_F(bad_input, an_empty_name) { expect(errc::bad_name, ""); }

TEST_F(bad_input, a_name_with_a_nul_byte) {
  expect(errc::bad_name, std::string_view("a\0b", 3));
  expect(errc::bad_name, std::string_view("\0", 1));
}

TEST_F(bad_input, a_name_that_is_too_long) {
  expect(errc::bad_name, std::string(513, 'n'));
  expect(errc::bad_name, std::string(1 << 20, 'n'));
  expect(fine, std::string(512, 'n'));
}

TEST_F(bad_input, a_very_long_name_is_not_quoted_in_the_error) {
  try {
    (void)store_.acquire(std::string(1 << 20, 'n'));
    FAIL() << "accepted";
  } catch (const lock_error& e) {
    EXPECT_LT(std::string(e.what()).size(), 200u);
    EXPECT_NE(std::string(e.what()).find("1048576"), std::string::npos) << e.what();
  }
}

TEST_F(bad_input, a_ttl_of_zero_or_less) {
  for (const auto ttl : {0ms, -1ms, std::chrono::milliseconds::min()}) expect(errc::bad_option, "a", {.ttl = ttl});
}

TEST_F(bad_input, a_ttl_that_is_too_short_or_too_long) {
  expect(errc::bad_option, "a", {.ttl = 9ms});
  expect(errc::bad_option, "a", {.ttl = 24h + 1ms});
  expect(errc::bad_option, "a", {.ttl = std::chrono::milliseconds::max()});
  expect(fine, "a", {.ttl = 10ms});
  expect(fine, "a", {.ttl = 24h});
}

TEST_F(bad_input, a_max_hold_that_is_negative_or_too_short) {
  expect(errc::bad_option, "a", {.max_hold = -1ms});
  expect(errc::bad_option, "a", {.max_hold = 9ms});
  expect(fine, "a", {.max_hold = 10ms});
  expect(fine, "a", {.max_hold = 0ms});
}

TEST_F(bad_input, a_max_hold_beyond_the_range_of_the_clock) {
  expect(errc::bad_option, "a", {.max_hold = std::chrono::milliseconds::max()});
}

TEST_F(bad_input, a_label_that_is_too_long_or_has_a_nul_byte) {
  expect(errc::bad_option, "a", {.label = std::string_view("a\0b", 3)});
  const std::string longest(256, 'l'), longer(257, 'l');
  expect(errc::bad_option, "a", {.label = longer});
  expect(fine, "a", {.label = longest});
}

TEST_F(bad_input, a_reason_that_is_too_long_or_has_a_nul_byte) {
  const lease held = store_.acquire("a");
  const auto code_of = [&](std::string_view name, std::string_view reason) -> std::error_code {
    try {
      EXPECT_TRUE(store_.revoke(name, reason));
    } catch (const lock_error& e) {
      return e.code();
    }
    return {};
  };
  EXPECT_EQ(code_of("a", std::string(257, 'r')), errc::bad_option);
  EXPECT_EQ(code_of("a", std::string_view("a\0b", 3)), errc::bad_option);
  EXPECT_FALSE(held.revoke_requested().stop_requested());
  EXPECT_FALSE(code_of("a", std::string(256, 'r')));
  EXPECT_EQ(code_of("", "r"), errc::bad_name);
  EXPECT_EQ(code_of(std::string(513, 'n'), "r"), errc::bad_name);
}

TEST_F(bad_input, break_lock_arguments) {
  const auto code_of = [&](std::string_view name, std::uint64_t fence, std::string_view owner) -> std::error_code {
    try {
      EXPECT_FALSE(store_.break_lock(name, fence, "", owner));
    } catch (const lock_error& e) {
      return e.code();
    }
    return {};
  };
  EXPECT_EQ(code_of("", 1, ""), errc::bad_name);
  EXPECT_EQ(code_of("a", 0, ""), errc::bad_option);
  EXPECT_EQ(code_of("a", 1, "me"), errc::bad_option);
  EXPECT_FALSE(code_of("a", 1, ""));
  EXPECT_FALSE(code_of("a", 0, "00000000000000010000000000000002"));
}

TEST_F(bad_input, a_name_to_inspect) {
  for (const std::string& bad : {std::string(), std::string(513, 'n'), std::string("\0", 1)}) {
    try {
      (void)store_.inspect(bad);
      ADD_FAILURE() << "accepted";
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::bad_name);
    }
  }
}

TEST_F(bad_input, a_ttl_for_a_renewal) {
  lease held = store_.acquire("a");
  for (const auto ttl : {0ms, -1ms, 9ms, std::chrono::milliseconds(24h) + 1ms, std::chrono::milliseconds::max()}) {
    EXPECT_EQ(code_of([&] { (void)held.renew(ttl); }), errc::bad_option) << ttl.count();
  }
  EXPECT_TRUE(held.held());
}

TEST_F(bad_input, the_error_names_the_lock_and_the_value) {
  try {
    (void)store_.acquire("train/001", {.ttl = -5ms});
    FAIL() << "accepted";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.lock(), "train/001");
    const std::string what = e.what();
    EXPECT_NE(what.find("train/001"), std::string::npos) << what;
    EXPECT_NE(what.find("-5 ms"), std::string::npos) << what;
  }
}

TEST_F(bad_input, one_bad_name_among_several) {
  const std::vector<std::string> none, with_bad{"a", ""}, good{"a", "b"}, equal{"a", "a"};
  EXPECT_EQ(code_of([&] { (void)store_.acquire({"a", ""}); }), errc::bad_name);
  EXPECT_EQ(code_of([&] { (void)store_.acquire(with_bad); }), errc::bad_name);
  EXPECT_EQ(code_of([&] { (void)store_.acquire(none); }), errc::bad_name);
  EXPECT_EQ(code_of([&] { (void)store_.acquire({"a", "b"}, {.ttl = 0ms}); }), errc::bad_option);
}

TEST_F(bad_input, a_delay_that_is_negative_or_beyond_ten_ttls) {
  expect(errc::bad_option, "a", {.ttl = 100ms, .delay = 1'001ms});
  expect(errc::bad_option, "a", {.delay = -1ms});
  expect(errc::bad_option, "a", {.ttl = 1h, .max_hold = 100ms, .delay = 2s});
  expect(fine, "a", {.ttl = 100ms, .delay = 1s});
}

TEST_F(bad_input, an_unfair_reader) {
  expect(errc::bad_option, "a", {.fair = false, .shared = true});
  expect(fine, "a", {.fair = false});
}

TEST(bad_open_options, are_rejected) {
  const auto open_with = [](const open_options& o) { return code_of([&] { (void)open("memory:", o); }); };
  for (const auto patience : {0ms, -1ms, std::chrono::milliseconds(1h) + 1ms, std::chrono::milliseconds::max()}) {
    EXPECT_EQ(open_with({.patience = patience}), errc::bad_option) << patience.count();
  }
  EXPECT_EQ(open_with({.burst = 0}), errc::bad_option);
  EXPECT_EQ(open_with({.patience = 1ms, .burst = 1}), fine);
  EXPECT_EQ(open_with({.patience = 1h}), fine);
}

}  // namespace
}  // namespace holdfast
