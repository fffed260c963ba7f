#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace holdfast::chaos {

/// The locks of a run. Each has a counter that checks fences and one that does not.
struct lock {
  enum class kind { exclusive, shared, permits };
  const char* name;
  kind what;
  std::uint8_t permits = 0;
};

inline constexpr lock locks[] = {
    {"door", lock::kind::exclusive},  {"safe", lock::kind::exclusive},
    {"shop", lock::kind::exclusive},  // library clients and the command-line program compete for it
    {"hall", lock::kind::shared},     {"desks", lock::kind::permits, 3},
    {"naive", lock::kind::exclusive},  // uses SET NX PX and DEL
};
inline constexpr std::size_t lock_count = std::size(locks);
inline constexpr std::uint8_t shop = 2, first_shared = 3, naive_lock = 5;

}  // namespace holdfast::chaos
