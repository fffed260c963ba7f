#pragma once
#include <string>
#include <utility>
#include <vector>

#include "chaos/topology.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/stepped_clock.hpp"

/// What the topologies of Redis have in common.
namespace holdfast::chaos {

/// What networks do. The line must outlive the faults.
[[nodiscard]] std::vector<fault> faults_of(test::fault_proxy& line, const std::string& part);

/// It is set, by milliseconds and by an hour, forwards and backwards. It must outlive the fault.
[[nodiscard]] fault clock_steps(const test::stepped_clock&, const std::string& part);

/// The memory of a server is full: it takes no new keys.
[[nodiscard]] fault full_memory(test::redis_server&, const std::string& part);

/// One that was killed; it has read its data when this returns.
void start_again(test::redis_server&);

/// The keys of locks and queues that are there now; fences, which stay for a day, are not among them.
[[nodiscard]] std::vector<std::string> locks_at(const test::redis_server&);

/// What `keys_of` finds at each of several, together.
template <class Many, class Keys>
[[nodiscard]] std::vector<std::string> at_each(const Many& all, Keys keys_of) {
  std::vector<std::string> found;
  for (const auto& each : all) {
    for (std::string& key : keys_of(each)) found.push_back(std::move(key));
  }
  return found;
}

}  // namespace holdfast::chaos
