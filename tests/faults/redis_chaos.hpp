#pragma once
#include <cstdint>

/// What a client in the chaos test and the resource that the lock protects say to each other, a packet each.
namespace holdfast::faults {

struct chaos_request {
  enum kind : std::uint32_t { next, enter, read, write, leave } what = next;
  std::uint64_t fence = 0;
  std::int64_t deadline = 0;  ///< of the lease, on the boot clock
  std::int64_t value = 0;
};

struct chaos_reply {
  std::int64_t value = 0;
  bool yes = false;  ///< admitted; or, to `next`: go on
};

}  // namespace holdfast::faults
