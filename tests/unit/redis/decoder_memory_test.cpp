// The length that a server announces costs no memory until the data arrives. This test is a program of its own because
// it replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "redis/protocol/codec.hpp"

namespace {

std::size_t allocated = 0;  // bytes since a test reset it

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  allocated += size;
  if (void* got = std::malloc(size == 0 ? 1 : size)) return got;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* gone) noexcept { std::free(gone); }
[[gnu::noinline]] void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }

namespace holdfast::redis {
namespace {

std::size_t cost_of(std::string_view bytes) {
  decoder d;
  allocated = 0;
  d.feed(bytes);
  EXPECT_FALSE(d.next()) << "there is more to come: " << bytes;
  return allocated;
}

TEST(decoder_memory, is_not_reserved_for_a_declared_size) {
  for (const std::string_view header :
       {"$1048576\r\n", "=1048576\r\n", "!1048576\r\n", "*65535\r\n", "~65535\r\n", ">65535\r\n", "%32767\r\n",
        "|32767\r\n", "*8\r\n*8\r\n*8\r\n*8\r\n*8\r\n*8\r\n*8\r\n*65000\r\n"}) {
    EXPECT_LT(cost_of(header), 4096u) << header;
  }
}

TEST(decoder_memory, is_proportional_to_the_received_bytes) {
  const std::string half(1 << 19, 'x');
  EXPECT_LT(cost_of("$1048576\r\n" + half), 3 * half.size());
}

}  // namespace
}  // namespace holdfast::redis
