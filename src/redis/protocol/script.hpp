#pragma once
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

/// The number of fences in a grant; see scripts/mint.part.lua.
constexpr std::uint64_t fences_in_a_block = 64;
/// Numbers in scripts are doubles, which are exact up to this bound.
constexpr std::int64_t largest_number = std::int64_t{1} << 53;

/// A script, which the server runs atomically. The texts are in scripts/ and are embedded at build time.
struct script {
  std::string_view text;
  std::string_view sha;  ///< its SHA-1, in hex
};

namespace scripts {
extern const script acquire, release, release_barging, renew, downgrade;  // exclusive locks
extern const script acquire_all, release_all, renew_all;                  // several exclusive locks
extern const script acquire_shared, release_shared, renew_shared;         // readers
extern const script take, give, renew_permits, resize;                    // permits
extern const script cell_get, cell_put, cell_watch;                       // cells
extern const script inspect, revoke, break_lock;                          // locks of any kind
extern const script vote, raise, withdraw, take_away;                     // Redlock
}  // namespace scripts

}  // namespace holdfast::redis
