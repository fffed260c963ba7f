#include "net/url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::net {
namespace {

using options = std::map<std::string, std::string>;

std::string refusal(std::string_view text) {
  try {
    (void)url::parse(text);
  } catch (const bad_url& e) {
    return e.what();
  }
  return "(taken)";
}

TEST(url, has_all_its_parts) {
  const url u = url::parse("rediss://me:pw@db.example.org:6380/3?prefix=x:&name=web");
  EXPECT_EQ(u.scheme, "rediss");
  EXPECT_EQ(u.user, "me");
  EXPECT_EQ(u.password, "pw");
  EXPECT_EQ(u.host, "db.example.org");
  EXPECT_EQ(u.port, 6380);
  EXPECT_EQ(u.path, "3");
  EXPECT_EQ(u.options, (options{{"name", "web"}, {"prefix", "x:"}}));
}

TEST(url, may_omit_parts_with_a_default) {
  const url u = url::parse("redis://");
  EXPECT_EQ(u.scheme, "redis");
  EXPECT_EQ(u.user + u.password + u.host + u.path, "");
  EXPECT_EQ(u.port, 0);
  EXPECT_TRUE(u.options.empty());
  EXPECT_EQ(url::parse("redis://h").host, "h");
  EXPECT_EQ(url::parse("redis://h/").path, "");
  EXPECT_EQ(url::parse("redis://:6380").port, 6380);
  EXPECT_EQ(url::parse("redis:///1").path, "1");
  EXPECT_EQ(url::parse("redis://h?").options, options{});
  EXPECT_EQ(url::parse("redis://h?a=1").host, "h");
}

TEST(url, has_a_user_a_password_or_both) {
  const url both = url::parse("redis://u:p@h");
  EXPECT_EQ(both.user, "u");
  EXPECT_EQ(both.password, "p");
  const url password = url::parse("redis://:p@h");
  EXPECT_EQ(password.user, "");
  EXPECT_EQ(password.password, "p");
  const url user = url::parse("redis://u@h");
  EXPECT_EQ(user.user, "u");
  EXPECT_EQ(user.password, "");
  EXPECT_EQ(url::parse("redis://@h").host, "h");
  EXPECT_EQ(url::parse("redis://u:p:q@h").password, "p:q") << "the first colon ends the user";
  EXPECT_EQ(url::parse("redis://u:p@q@h").password, "p@q") << "the last @ begins the host";
}

TEST(url, accepts_an_ipv6_address_in_brackets) {
  EXPECT_EQ(url::parse("redis://[::1]").host, "::1");
  EXPECT_EQ(url::parse("redis://[::1]:7000").port, 7000);
  const url u = url::parse("redis://u:p@[fe80::1%25eth0]:7000/2");
  EXPECT_EQ(u.host, "fe80::1%eth0");
  EXPECT_EQ(u.port, 7000);
  EXPECT_EQ(u.path, "2");
  EXPECT_NE(refusal("redis://::1:6379").find("brackets"), std::string::npos);
  EXPECT_NE(refusal("redis://[::1"), "(taken)");
  EXPECT_NE(refusal("redis://[::1]6379"), "(taken)");
  EXPECT_NE(refusal("redis://[::1]:"), "(taken)");
  EXPECT_NE(refusal("redis://[]:6379"), "(taken)") << "not the local host";
}

TEST(url, may_name_several_hosts) {
  const url u = url::parse("x://me:p,w@a:1,[::1]:2,c,%64/p,q?o=r,s");
  EXPECT_EQ(u.password, "p,w");
  EXPECT_EQ(u.host, "a");
  EXPECT_EQ(u.port, 1);
  ASSERT_EQ(u.others.size(), 3u);
  EXPECT_EQ(u.others[0].host, "::1");
  EXPECT_EQ(u.others[0].port, 2);
  EXPECT_EQ(u.others[1].host, "c");
  EXPECT_EQ(u.others[1].port, 0);
  EXPECT_EQ(u.others[2].host, "d");
  EXPECT_EQ(u.path, "p,q");
  EXPECT_EQ(u.options, (options{{"o", "r,s"}}));
  EXPECT_TRUE(url::parse("x://h").others.empty());
  for (const std::string bad : {"x://a,", "x://a,,b", "x://a,:1"}) {
    EXPECT_NE(refusal(bad).find("between the commas"), std::string::npos) << bad;
  }
}

TEST(url, has_one_user_and_password_for_all_hosts) {
  for (const char* const bad : {"redis+cluster://:secret@a,:secret@b", "redis+cluster://:secret@a,:secret@b,c",
                                "redis+cluster://a,me:secret@b,c"}) {
    EXPECT_NE(refusal(bad).find("stand once, before the first"), std::string::npos) << bad;
    EXPECT_EQ(refusal(bad).find("secret"), std::string::npos);
  }
  EXPECT_EQ(url::parse("redis://:a,b@host").password, "a,b") << "it is not ambiguous";
}

TEST(url, decodes_percent_signs_part_by_part) {
  const url u = url::parse("redis://us%3aer:p%40%2f%3F%25@h%2Dx/a%2Fb?na%6de=1%262&x=y%3Dz");
  EXPECT_EQ(u.user, "us:er");
  EXPECT_EQ(u.password, "p@/?%");
  EXPECT_EQ(u.host, "h-x");
  EXPECT_EQ(u.path, "a/b");
  EXPECT_EQ(u.options, (options{{"name", "1&2"}, {"x", "y=z"}}));
}

TEST(url, keeps_every_encoded_byte) {
  for (int byte = 1; byte < 256; ++byte) {
    constexpr char hex[] = "0123456789aBcDeF";
    const std::string code{'%', hex[byte >> 4], hex[byte & 15]};
    const std::string plain(1, static_cast<char>(byte));
    const url u = url::parse("redis://" + code + ":" + code + "@h/" + code + "?x=" + code);
    EXPECT_EQ(u.user, plain);
    EXPECT_EQ(u.password, plain);
    EXPECT_EQ(u.path, plain);
    EXPECT_EQ(u.options.at("x"), plain);
  }
}

TEST(url, rejects_a_percent_sign_without_digits) {
  for (const std::string_view bad : {"%", "%1", "%g0", "%0g", "%%41", "% 1", "%+1", "a%"}) {
    const std::string text(bad);
    EXPECT_NE(refusal("redis://" + text + "@h").find("%25"), std::string::npos) << bad;
    EXPECT_NE(refusal("redis://u:" + text + "@h").find("%25"), std::string::npos) << bad;
    EXPECT_NE(refusal("redis://" + text).find("%25"), std::string::npos) << bad;
    EXPECT_NE(refusal("redis://h/" + text).find("%25"), std::string::npos) << bad;
    EXPECT_NE(refusal("redis://h?x=" + text).find("%25"), std::string::npos) << bad;
    EXPECT_NE(refusal("redis://h?" + text + "=x").find("%25"), std::string::npos) << bad;
  }
}

TEST(url, rejects_a_nul_byte_anywhere) {
  for (const std::string_view bad :
       {"redis://a%00@h", "redis://:a%00@h", "redis://a%00", "redis://h/%00", "redis://h?x=%00", "redis://h?%00=x"}) {
    EXPECT_NE(refusal(bad).find("NUL"), std::string::npos) << bad;
  }
  EXPECT_NE(refusal(std::string_view("redis://h\0x", 10)).find("NUL"), std::string::npos);
}

TEST(url, requires_a_scheme) {
  for (const std::string_view bad : {"", "h", "h:6379", "redis:h", "redis:/h", "//h", "redis", "://h", "a b://h",
                                     "rediss:x://h", "u:p@h://x", "@://h"}) {
    EXPECT_NE(refusal(bad).find("scheme://"), std::string::npos) << bad;
  }
}

TEST(url, requires_a_valid_port) {
  for (const std::string_view bad : {"", "0", "65536", "-1", "+1", "1a", "a", " 1", "99999999999999999999", "6379 "}) {
    EXPECT_NE(refusal("redis://h:" + std::string(bad)).find("1 to 65535"), std::string::npos) << bad;
  }
  EXPECT_EQ(url::parse("redis://h:1").port, 1);
  EXPECT_EQ(url::parse("redis://h:65535").port, 65535);
}

TEST(url, requires_options_to_have_a_value_and_be_unique) {
  EXPECT_EQ(url::parse("redis://h?&a=&&b=1&").options, (options{{"a", ""}, {"b", "1"}}));
  EXPECT_EQ(url::parse("redis://h?a=b=c").options, (options{{"a", "b=c"}}));
  EXPECT_NE(refusal("redis://h?a").find("name=value"), std::string::npos);
  EXPECT_NE(refusal("redis://h?a=1&a=2").find("'a' is given twice"), std::string::npos);
  EXPECT_NE(refusal("redis://h?a=1&%61=2").find("'a' is given twice"), std::string::npos);
}

TEST(url, requires_an_at_sign_after_the_host_to_be_encoded) {
  for (const std::string_view bad : {"redis://u:p/w@h", "redis://u:1/w@h", "redis://u:1?a=b@h", "redis://h/a@b",
                                     "redis://h?a=b@c", "redis+unix:///run/a@b", "redis://?@"}) {
    EXPECT_NE(refusal(bad).find("%40"), std::string::npos) << bad;
  }
  EXPECT_EQ(url::parse("redis://h/a%40b").path, "a@b");
}

}  // namespace
}  // namespace holdfast::net
