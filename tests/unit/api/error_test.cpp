#include "holdfast/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace holdfast {
namespace {

TEST(error, has_a_message_for_every_code) {
  std::set<std::string> sentences;
  const int last = static_cast<int>(errc::unsupported);
  for (int code = 1; code <= last; ++code) sentences.insert(make_error_code(static_cast<errc>(code)).message());
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(last));
  EXPECT_FALSE(sentences.contains(""));
  EXPECT_FALSE(sentences.contains("unknown error"));
  EXPECT_EQ(error_category().message(last + 1), "unknown error");
  EXPECT_EQ(error_category().message(0), "unknown error");
}

TEST(error, is_a_standard_error_code) {
  const std::error_code code = errc::closed;
  EXPECT_EQ(code, errc::closed);
  EXPECT_NE(code, errc::lost);
  EXPECT_EQ(&code.category(), &error_category());
  EXPECT_STREQ(code.category().name(), "holdfast");
  EXPECT_FALSE(std::error_code());
}

TEST(lock_error, names_the_lock_and_quotes_the_server) {
  const lock_error e(errc::denied, "train/001", "redis://host: NOPERM");
  EXPECT_EQ(e.code(), errc::denied);
  EXPECT_EQ(e.lock(), "train/001");
  const std::string what = e.what();
  EXPECT_NE(what.find("train/001: redis://host: NOPERM"), std::string::npos) << what;
  EXPECT_NE(what.find(e.code().message()), std::string::npos) << what;
}

TEST(lock_error, distinguishes_a_timeout_from_an_error) {
  EXPECT_FALSE(lock_error(errc::unreachable, "a", "Connection refused").no_answer());
  EXPECT_TRUE(lock_error(errc::unreachable, "a", "no answer within the limit", true).no_answer());
}

TEST(lock_error, reads_well_without_a_lock_or_a_text) {
  EXPECT_EQ(std::string(lock_error(errc::bad_url, "", "there is no option 'x'").what()),
            "there is no option 'x': the URL of the store is wrong");
  EXPECT_EQ(std::string(lock_error(errc::lost, "a", "").what()), "a: the lease has ended");
}

TEST(lock_error, is_caught_as_a_system_error) {
  try {
    throw lock_error(errc::closed, "a", "b");
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), errc::closed);
  }
}

}  // namespace
}  // namespace holdfast
