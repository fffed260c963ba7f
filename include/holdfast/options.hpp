#pragma once
#include <chrono>
#include <string_view>
#include <type_traits>

namespace holdfast {

/// How a lock is held. Everything is copied by the call that takes it.
struct lock_options {
  std::chrono::milliseconds ttl{10'000};  ///< how long the store keeps us unrenewed; 10 ms to 24 h
  bool renew = true;                      ///< false: a fixed lease, gone after its ttl
  std::chrono::milliseconds max_hold{0};  ///< renewed for so long at most, a year in all; 0: until released
  std::string_view label{};               ///< shown to whoever asks who holds it; at most 256 bytes
};

// g++ 12 destroys the aggregate temporaries of a co_await expression twice; ours must not mind.
static_assert(std::is_aggregate_v<lock_options> && std::is_trivially_destructible_v<lock_options>);

}  // namespace holdfast
