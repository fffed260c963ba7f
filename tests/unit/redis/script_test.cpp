#include "redis/protocol/script.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string>
#include <vector>

#include "redis/protocol/owner.hpp"
#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

std::string sha1_of(std::string_view text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EXPECT_EQ(::EVP_Digest(text.data(), text.size(), bytes, &size, ::EVP_sha1(), nullptr), 1);
  std::string hex;
  for (unsigned n = 0; n < size; ++n)
    hex.append({"0123456789abcdef"[bytes[n] >> 4], "0123456789abcdef"[bytes[n] & 15]});
  return hex;
}

const std::vector<const script*> takers = {&scripts::acquire, &scripts::acquire_shared, &scripts::take};
const std::vector<const script*> others = {&scripts::release,        &scripts::renew,        &scripts::downgrade,
                                           &scripts::release_shared, &scripts::renew_shared, &scripts::give,
                                           &scripts::renew_permits};

std::vector<const script*> all() {
  std::vector<const script*> both = takers;
  both.insert(both.end(), others.begin(), others.end());
  for (const script* s : {&scripts::resize, &scripts::cell_get, &scripts::cell_put, &scripts::cell_watch,
                          &scripts::inspect, &scripts::revoke, &scripts::break_lock})
    both.push_back(s);
  return both;
}

TEST(scripts, carry_the_sha_of_their_text) {
  EXPECT_EQ(sha1_of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  for (const script* s : all()) EXPECT_EQ(s->sha, sha1_of(s->text));
}

// A server that sees the shebang checks all of a script's rights before its first effect.
TEST(scripts, are_complete_and_begin_with_a_shebang) {
  for (const script* s : all()) {
    EXPECT_TRUE(s->text.starts_with("#!lua")) << s->text;
    EXPECT_FALSE(has(s->text, "--@")) << "a part is missing: " << s->text;
  }
}

TEST(scripts, that_release_run_on_a_full_server) {
  for (const script* s : others) EXPECT_TRUE(s->text.starts_with("#!lua flags=allow-oom\n")) << s->text;
  for (const script* s : takers) EXPECT_FALSE(has(s->text, "allow-oom")) << "taking more needs memory: " << s->text;
}

TEST(scripts, mint_as_many_fences_as_the_client_counts_on) {
  const std::string block = std::to_string(fences_in_a_block), rest = std::to_string(fences_in_a_block - 1);
  for (const script* s : {&scripts::acquire, &scripts::release}) {
    EXPECT_TRUE(has(s->text, "call('SET', F, now + " + rest + ",")) << s->text;
    EXPECT_TRUE(has(s->text, "call('SET', F, last + " + block + ",")) << s->text;
  }
  EXPECT_TRUE(has(scripts::acquire.text, "return last > " + rest + " and last - " + rest + " or mint()"));
}

TEST(scripts, read_inbox_and_claim_ttl_at_their_positions) {
  const std::string owner = owner_text("AbCdEfGhIjKlMnOp", {1, 2}, {}, 321ms, "a label");
  for (const script* s : {&scripts::acquire, &scripts::release}) {
    EXPECT_TRUE(has(s->text, "string.sub(waiter, 1, 16)")) << s->text;
    EXPECT_TRUE(has(s->text, "string.match(owner, '^%d+', 35)")) << s->text;
  }
  EXPECT_EQ(owner.substr(0, 16), "AbCdEfGhIjKlMnOp");
  EXPECT_EQ(owner.substr(34, 3), "321") << "Lua counts from 1";
}

}  // namespace
}  // namespace holdfast::redis
