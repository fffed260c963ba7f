#pragma once
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// What one sentinel of the URL says about the service.
struct sentinel_view {
  std::string from;         ///< host:port
  std::string why{};        ///< why it did not answer; else empty
  std::string deaf{};       ///< why the user may not subscribe to its channels; else empty
  std::string primary{};    ///< host:port
  std::int64_t others = 0;  ///< other sentinels that it knows
  std::int64_t quorum = 0;  ///< how many must agree that the primary is gone
};

}  // namespace holdfast::redis
