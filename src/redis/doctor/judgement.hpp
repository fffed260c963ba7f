#pragma once
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "redis/cluster/cluster_map.hpp"
#include "redis/protocol/facts.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/sentinel/sentinel_view.hpp"
#include "storage/findings.hpp"

/// What the settings and the state of a server mean for locks. Nothing here asks the server.
namespace holdfast::redis {

/// What a server told of itself; nothing: it would not.
struct self_portrait {
  facts info;
  std::optional<facts> config;
  /// Once it has restarted, it does not count until it has run this long: then all locks from before have expired.
  std::optional<std::chrono::milliseconds> votes_after{};
};

/// The settings that are judged, as CONFIG GET knows them.
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

void judge_version(const self_portrait&, storage::findings&);
void judge_eviction(const self_portrait&, storage::findings&);     ///< keys that the server throws away
void judge_memory(const self_portrait&, storage::findings&);       ///< how full it is
void judge_persistence(const self_portrait&, storage::findings&);  ///< what a restart forgets
void judge_age(const self_portrait&, storage::findings&);          ///< of a server of Redlock: whether it votes yet
void judge_disk(const self_portrait&, storage::findings&);         ///< whether it can write
void judge_role(const self_portrait&, storage::findings&);
void judge_replicas(const self_portrait&, storage::findings&);  ///< of a primary: what a takeover forgets
void judge_lag(const self_portrait&, storage::findings&);
void judge_connections(const self_portrait&, storage::findings&);
void judge_coverage(const self_portrait&, storage::findings&);  ///< of a node of a cluster: what it does without others
/// Of a cluster: slots without a node, primaries without a replica.
void judge_slots(const std::vector<slot_range>&, storage::findings&);
/// Whether what a lock has to wait for can come.
void judge_wait(const acknowledgement&, const self_portrait&, storage::findings&);
/// `user` is the name by which the sentinels know us.
void judge_sentinels(const std::vector<sentinel_view>&, std::string_view user, storage::findings&);
/// What travels in plain sight, and whether everybody is let in.
void judge_way(const settings&, storage::findings&);
/// All that is of one server, but what the URL asks for.
void judge(const self_portrait&, storage::findings&);

}  // namespace holdfast::redis
