#include <set>
#include <string>

#include "redis/doctor/judgement.hpp"
#include "redis/protocol/slots.hpp"

namespace holdfast::redis {

void judge_coverage(const self_portrait& is, storage::findings& found) {
  if (is.info.text("cluster_enabled") != "1" || !is.config) return;
  const std::string_view whole = is.config->text("cluster-require-full-coverage");
  if (whole == "no") found.fine("redis.coverage", "The node goes on when another shard is dead.");
  if (whole != "yes") return;
  found.warning("redis.coverage",
                "The node refuses everything while a slot has no node (cluster-require-full-coverage).",
                "A shard that dies costs the locks of all shards.",
                "CONFIG SET cluster-require-full-coverage no (and in redis.conf, on all nodes)");
}

void judge_slots(const std::vector<slot_range>& ranges, storage::findings& found) {
  std::size_t have = 0;
  std::set<std::string> alone;
  for (const slot_range& each : ranges) {
    have += static_cast<std::size_t>(each.last - each.first) + 1;
    if (each.replicas == 0) alone.insert(text_of(each.primary));
  }
  if (have >= slots_of_a_cluster) {
    found.fine("redis.slots", "Every slot of the cluster has a node.");
  } else {
    found.danger("redis.slots", std::to_string(slots_of_a_cluster - have) + " slots of the cluster have no node.",
                 "The locks that lie there can be neither taken nor renewed.",
                 "See who is missing: redis-cli --cluster check; then bring it back, or --cluster fix");
  }
  if (alone.empty()) return found.fine("redis.shards", "Every primary of the cluster has a replica.");
  std::string who;
  for (const std::string& each : alone) who.append(who.empty() ? "" : ", ").append(each);
  found.warning("redis.shards", "No replica can take over from " + who + ".",
                "When it dies, nobody can lock what lies there until it is back.",
                "Add a replica: redis-cli --cluster add-node NEW NODE --cluster-slave");
}

}  // namespace holdfast::redis
