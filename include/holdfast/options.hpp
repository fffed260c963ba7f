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
  /// After a loss, not after a release, it stays closed for so long: for what cannot check a fence. At most ten ttls.
  std::chrono::milliseconds delay{0};
  /// False: whoever comes while it is free gets it, though others wait, and a process passes it on among its threads
  /// for a ttl: more throughput, and no promise that a waiter ever gets in.
  bool fair = true;
  bool shared = false;  ///< as a reader, with other readers; of a lease, else see shared_mutex
};

// g++ 12 destroys the aggregate temporaries of a co_await expression twice; ours must not mind.
static_assert(std::is_aggregate_v<lock_options> && std::is_trivially_destructible_v<lock_options>);

}  // namespace holdfast
