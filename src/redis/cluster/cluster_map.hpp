#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/url.hpp"
#include "redis/protocol/value.hpp"

/// Reads what nodes of a cluster say about one another. No I/O.
namespace holdfast::redis {

/// A range of slots, and the node that has them.
struct slot_range {
  std::uint16_t first = 0, last = 0;
  net::endpoint primary;
  std::size_t replicas = 0;
};

/// Reads the reply to CLUSTER SLOTS. A node that does not know its own name is the one that was asked. Empty if the
/// reply is malformed.
[[nodiscard]] std::optional<std::vector<slot_range>> slots_in(const value& reply, const net::endpoint& asked);

/// An error that names another node: `MOVED <slot> <host>:<port>`, or `ASK …`, which is for one command only.
struct redirection {
  bool once = false;
  std::uint16_t slot = 0;
  net::endpoint to;
  /// Returns nothing for any other error.
  [[nodiscard]] static std::optional<redirection> of(std::string_view error, const net::endpoint& asked);
};

}  // namespace holdfast::redis
