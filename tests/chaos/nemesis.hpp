#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "chaos/coordinator.hpp"
#include "chaos/topology.hpp"

namespace holdfast::chaos {

/// Injects faults, chosen by a seed: those that the topology offers for servers and connections, and SIGSTOP and
/// SIGKILL for processes, half of them aimed at a holder. Now and then it ends all faults, kills a holder, and waits
/// until another client gets the lock.
class nemesis {
 public:
  /// `start_process` replaces a process that was killed.
  nemesis(topology&, coordinator&, std::uint64_t seed, std::function<void(role)> start_process);
  /// Starts and ends some faults. Takes about ten milliseconds or more.
  void step();
  /// Ends all faults and waits until the servers have recovered.
  void heal();

 private:
  using instant = std::chrono::steady_clock::time_point;
  struct running_fault {
    event said;
    std::string part;
    std::function<void()> end;
    instant until;
  };
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return choose_() % n; }
  [[nodiscard]] std::optional<std::uint32_t> victim();
  void begin(const std::string& name, const std::string& part, std::chrono::milliseconds longest,
             const std::function<void()>& what, std::function<void()> end);
  void end(running_fault&);
  void inject_fault();
  void stop_process();
  void kill_process();
  void make_orphan();

  topology& topology_;
  coordinator& coordinator_;
  const std::function<void(role)> start_process_;
  std::vector<fault> faults_;
  std::vector<running_fault> running_;
  choices choose_;
  instant next_orphan_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::int64_t last_ = 0;
};

}  // namespace holdfast::chaos
