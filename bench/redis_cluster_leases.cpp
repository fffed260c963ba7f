#include <algorithm>
#include <chrono>
#include <holdfast/holdfast.hpp>

#include "bench.hpp"
#include "held_leases.hpp"
#include "redis_cluster.hpp"

namespace bench {

namespace {

constexpr std::chrono::seconds lease_ttl{10};
constexpr std::size_t lease_count = 100'000;

/// Holds the leases for three ttls, and measures delay and cost of renewals.
void hold(const leases& held, const std::string& who, std::vector<figure>& all) {
  const double cpu = cpu_seconds();
  const seconds began = now();
  const std::vector<double> late = lateness_of(held, lease_ttl, 3 * lease_ttl);
  const double share = 100 * (cpu_seconds() - cpu) / (now() - began).count();
  const double most = late.empty() ? 1e3 * lease_ttl.count() : 1e3 * at_share(late, 0.99);
  all.push_back({who + ", for 3 ttls, of one core", share, "%"});
  all.push_back({who + ", renewed later than a third of the ttl, p99", most, "ms", "below 1000", most < 1000});
}

}  // namespace

void redis_cluster_leases(std::vector<figure>& all) {
  redis_cluster cluster(3);
  holdfast::store store = holdfast::open(cluster.url());
  const leases held = take(store, lease_count, lease_ttl);
  const std::string who = "cluster of 3, " + std::to_string(lease_count) + " held leases";

  hold(held, who, all);
  const std::size_t lost = lost_of(held).size();
  all.push_back({who + ", lost", static_cast<double>(lost), "leases", "0", lost == 0});

  cluster.kill(0);
  hold(held, who + ", one shard dies", all);
  const std::vector<std::size_t> homes = cluster.homes_of(lost_of(held), 1);
  const auto there = static_cast<std::size_t>(std::ranges::count(homes, 0));
  const std::size_t elsewhere = homes.size() - there;
  all.push_back({who + ", one shard dies, lost there", static_cast<double>(there), "leases"});
  all.push_back(
      {who + ", one shard dies, lost on the others", static_cast<double>(elsewhere), "leases", "0", elsewhere == 0});
}

}  // namespace bench
