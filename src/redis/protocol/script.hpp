#pragma once
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

/// How many come with a grant; scripts/mint.part.lua makes them.
constexpr std::uint64_t fences_in_a_block = 64;
/// Numbers in scripts are doubles, and exact up to here; so are our sums of them.
constexpr std::int64_t largest_number = std::int64_t{1} << 53;

/// One atomic step at the server. The texts are in scripts/, embedded at build time.
struct script {
  std::string_view text;
  std::string_view sha;  ///< its SHA-1, in hex
};

namespace scripts {
extern const script acquire, release, release_barging, renew, downgrade;  // a whole lock
extern const script acquire_all, release_all, renew_all;                  // several
extern const script acquire_shared, release_shared, renew_shared;         // a reader's place
extern const script take, give, renew_permits, resize;                    // permits
extern const script cell_get, cell_put, cell_watch;                       // a number
extern const script inspect, revoke, break_lock;                          // of whatever kind
extern const script vote, raise, withdraw, take_away;                     // of several servers
}  // namespace scripts

}  // namespace holdfast::redis
