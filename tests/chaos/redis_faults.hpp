#pragma once
#include <string>
#include <utility>
#include <vector>

#include "chaos/topology.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/stepped_clock.hpp"

/// Shared by the topologies of Redis.
namespace holdfast::chaos {

/// Network faults. The proxy must outlive them.
[[nodiscard]] std::vector<fault> faults_of(test::fault_proxy& proxy, const std::string& part);

/// Steps the clock by milliseconds or by an hour, forwards or backwards. The clock must outlive the fault.
[[nodiscard]] fault clock_steps(const test::stepped_clock&, const std::string& part);

/// Lets the server run out of memory, so that it accepts no new keys.
[[nodiscard]] fault full_memory(test::redis_server&, const std::string& part);

/// Starts a server that was killed, and waits until it has loaded its data.
void start_again(test::redis_server&);

/// The keys of locks and queues at the server, without fences, which stay for a day.
[[nodiscard]] std::vector<std::string> locks_at(const test::redis_server&);

/// What `keys_of` finds at all of the servers.
template <class Many, class Keys>
[[nodiscard]] std::vector<std::string> at_each(const Many& all, Keys keys_of) {
  std::vector<std::string> found;
  for (const auto& each : all) {
    for (std::string& key : keys_of(each)) found.push_back(std::move(key));
  }
  return found;
}

}  // namespace holdfast::chaos
