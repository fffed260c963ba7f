#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/url.hpp"
#include "redis/protocol/value.hpp"

/// What nodes of a cluster say about one another. Nothing here asks them.
namespace holdfast::redis {

/// Slots in a row, and who has them.
struct slot_range {
  std::uint16_t first = 0, last = 0;
  net::url::place primary;
  std::size_t replicas = 0;
};

/// The reply to CLUSTER SLOTS. A node may not know by what name it was reached: that is the one it was asked by.
/// Nothing: it makes no sense.
[[nodiscard]] std::optional<std::vector<slot_range>> slots_in(const value& reply, const net::url::place& asked);

/// An error that names another node: `MOVED <slot> <host>:<port>`, or `ASK …`, which is for this once.
struct redirection {
  bool once = false;
  std::uint16_t slot = 0;
  net::url::place to;
  /// Nothing: it is another error.
  [[nodiscard]] static std::optional<redirection> of(std::string_view error, const net::url::place& asked);
};

}  // namespace holdfast::redis
