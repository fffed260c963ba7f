#pragma once
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// What one sentinel of the URL says of the service.
struct sentinel_view {
  std::string from;         ///< host:port
  std::string why{};        ///< it says nothing, for this reason; else empty
  std::string deaf{};       ///< the user may not subscribe to its channels, for this reason; else empty
  std::string primary{};    ///< host:port
  std::int64_t others = 0;  ///< sentinels that it knows besides itself
  std::int64_t quorum = 0;  ///< how many must agree that the primary is gone
};

}  // namespace holdfast::redis
