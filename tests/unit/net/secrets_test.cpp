#include <gtest/gtest.h>

#include <random>
#include <string>

#include "net/url.hpp"
#include "redis/protocol/settings.hpp"
#include "storage/answer.hpp"

namespace holdfast::net {
namespace {

/// Passwords with characters that have a meaning in URLs. Nothing else here contains a Q or a Z.
std::string any_password(std::mt19937& random) {
  constexpr std::string_view letters = "QQZZQZ%@:/?&=[]#.+-\\ \"'12";
  std::string password = "Q";
  for (std::size_t left = random() % 12; left != 0; --left) password.push_back(letters[random() % letters.size()]);
  return password;
}

std::string one_of(std::mt19937& random, std::initializer_list<const char*> texts) {
  return texts.begin()[random() % texts.size()];
}

bool shows_the_password(const std::string& text) { return text.find_first_of("QZ") != std::string::npos; }

/// The error for the URL if it is rejected, otherwise its host.
std::string words_about(const std::string& url) {
  try {
    return redis::settings::parse(url).where();
  } catch (const storage::failure& f) {
    return f.text;
  }
}

TEST(without_secrets, keeps_what_is_not_secret) {
  EXPECT_EQ(without_secrets("redis://user:pw@host:6379/1?prefix=x:"), "redis://user@host:6379/1");
  EXPECT_EQ(without_secrets("redis://:pw@host"), "redis://host");
  EXPECT_EQ(without_secrets("redis://host:6379/1"), "redis://host:6379/1");
  EXPECT_EQ(without_secrets("redis+unix://u:p@/run/redis.sock"), "redis+unix://u@/run/redis.sock");
  EXPECT_EQ(without_secrets("redis://[::1]:7000"), "redis://[::1]:7000");
  EXPECT_EQ(without_secrets(""), "");
}

TEST(without_secrets, does_not_depend_on_the_password) {
  std::mt19937 random(11);
  for (int n = 0; n < 20'000; ++n) {
    const std::string scheme = one_of(random, {"redis", "rediss", "valkey", "redis+unix", "x"});
    const std::string user = one_of(random, {"", "user", "u%40v", "a.b"});
    const std::string rest = one_of(random, {"host", "host:6379", "[::1]:7000/1", "/run/redis.sock", ""});
    const std::string options = one_of(random, {"", "?prefix=x:", "?a=b&c=d", "?"});
    const std::string url = scheme + "://" + user + ":" + any_password(random) + "@" + rest + options;
    EXPECT_EQ(without_secrets(url), scheme + "://" + user + (user.empty() ? "" : "@") + rest) << url;
  }
}

TEST(without_secrets, shows_no_password_of_a_malformed_url) {
  std::mt19937 random(13);
  for (int n = 0; n < 20'000; ++n) {
    const std::string before =
        one_of(random, {"", "redis:", "redis:/", "redis:///", "//", "redis//", "red is://", "://"});
    const std::string user = one_of(random, {":", "user:", "u/v:", "u?v:", "u@v:"});
    const std::string after = one_of(random, {"@", "@host", "@host:6379/1", "@host?a=b", "@h@h", "@host://x"});
    const std::string url = before + user + any_password(random) + after;
    EXPECT_FALSE(shows_the_password(without_secrets(url))) << url << ": " << without_secrets(url);
  }
}

TEST(without_secrets, treats_a_sole_word_before_the_at_sign_as_a_password) {
  EXPECT_EQ(without_secrets("redis://Q@host"), "redis://host");
  EXPECT_EQ(without_secrets("redis:Q@host"), "redis:host");
  EXPECT_EQ(without_secrets("Q@host"), "host");
}

TEST(without_secrets, removes_a_password_among_the_options) {
  EXPECT_EQ(without_secrets("redis://host?password=Q"), "redis://host");
  EXPECT_EQ(without_secrets("redis://host?password=a:Q@host"), "redis://host");
  EXPECT_EQ(without_secrets("redis://u:Q@host/1?auth=Q"), "redis://u@host/1");
}

TEST(without_secrets, shows_no_password_next_to_shown_options) {
  std::mt19937 random(19);
  for (int n = 0; n < 20'000; ++n) {
    const std::string before = one_of(random, {"redis://", "redis:", "", "://"});
    const std::string user = one_of(random, {":", "user:", "u@v:", "u?prefix=x&v:"});
    const std::string after = one_of(random, {"@host?prefix=x", "@host?password_file=/x", "@?db=1&password_env=x"});
    const std::string url = before + user + any_password(random) + after;
    EXPECT_FALSE(shows_the_password(redis::settings::shown(url))) << url << ": " << redis::settings::shown(url);
  }
}

TEST(a_rejected_url, is_never_quoted_with_its_password) {
  std::mt19937 random(17);
  for (int n = 0; n < 20'000; ++n) {
    const std::string scheme = one_of(random, {"redis", "rediss", "valkey", "redis+unix", "redis:x", ""});
    const std::string user = one_of(random, {"", "user", "u/v", "u?v", "u?v=w", "[u", "1"});
    const std::string rest =
        one_of(random, {"host", "host:6379", "host:x", "[::1]:7000/1", "/run/redis.sock", "h/x", ""});
    const std::string options = one_of(random, {"", "?prefix=x:", "?a=b", "?lanes=0", "?a", "?ca=/x", "?db=x"});
    const std::string url = scheme + "://" + user + ":" + any_password(random) + "@" + rest + options;
    EXPECT_FALSE(shows_the_password(words_about(url))) << url << ": " << words_about(url);
  }
}

}  // namespace
}  // namespace holdfast::net
