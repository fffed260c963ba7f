#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

namespace holdfast::directory {

using owner_bytes = std::array<char, 16>;  ///< what a claim is known by

/// What one process sends to the inbox of another: the lock is yours; or, without a fence, look for yourself.
struct message {
  owner_bytes owner{};
  std::uint64_t fence = 0;   ///< the first of the block
  std::int64_t expires = 0;  ///< of a fixed lease, on the boot clock, in nanoseconds
};
static_assert(std::is_trivially_copyable_v<message> && sizeof(message) == 32);

}  // namespace holdfast::directory
