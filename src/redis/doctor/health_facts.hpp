#pragma once
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "redis/cluster/cluster_map.hpp"
#include "redis/protocol/clock_reading.hpp"
#include "redis/protocol/server_info.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/sentinel/sentinel_view.hpp"

/// The values that the health rules test and show, derived from what servers have reported. Nothing here sends a
/// request.
namespace holdfast::redis {

/// What one server reports about itself, and what its URL demands from it.
struct server_report {
  server_info info;
  std::optional<server_info> config;  ///< empty if the user may not read it
  /// Redlock only: the uptime after which the server votes, when all locks from before its start have expired.
  std::optional<std::chrono::milliseconds> votes_after{};
  acknowledgement wait{};
};

/// The settings that the rules need, by their names in CONFIG GET.
inline constexpr std::string_view judged_settings[] = {"maxmemory",
                                                       "maxmemory-policy",
                                                       "appendonly",
                                                       "appendfsync",
                                                       "save",
                                                       "min-replicas-to-write",
                                                       "min-replicas-max-lag",
                                                       "timeout",
                                                       "tcp-keepalive",
                                                       "cluster-require-full-coverage"};

/// A reading of the server's clock and of our wall clock at `sent`.
struct clock_comparison : clock_reading {
  std::chrono::microseconds wall;  ///< since 1970
};

[[nodiscard]] server_info facts_about_server(const server_report&);
/// Encryption and authentication.
[[nodiscard]] server_info facts_about_connection(const settings&);
/// `user` is the name under which we log in to the sentinels.
[[nodiscard]] server_info facts_about_sentinels(const std::vector<sentinel_view>&, std::string_view user);
[[nodiscard]] server_info facts_about_cluster(const std::vector<slot_range>&);
[[nodiscard]] server_info facts_about_clock(const std::vector<clock_comparison>&);

}  // namespace holdfast::redis
