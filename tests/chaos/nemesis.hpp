#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "chaos/office.hpp"
#include "chaos/topology.hpp"

namespace holdfast::chaos {

/// Does harm, by a seed: to the servers and their lines what the topology offers, and to processes SIGSTOP and kill -9,
/// half of it aimed at one that holds a lock. Now and then it mends everything, kills a holder, and waits to see who
/// gets its lock.
class nemesis {
 public:
  /// `hire` brings a process in the place of one that was killed.
  nemesis(topology&, office&, std::uint64_t seed, std::function<void(role)> hire);
  /// One step: some faults begin, some end. Takes some ten milliseconds.
  void step();
  /// All faults are over, and the servers have recovered from them.
  void heal();

 private:
  using instant = std::chrono::steady_clock::time_point;
  struct wound {
    event said;
    std::string part;
    std::function<void()> end;
    instant until;
  };
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return choose_() % n; }
  [[nodiscard]] std::optional<std::uint32_t> victim();
  void begin(const std::string& name, const std::string& part, std::chrono::milliseconds longest,
             const std::function<void()>& what, std::function<void()> end);
  void end(wound&);
  void harm_servers();
  void stop_somebody();
  void kill_somebody();
  void make_an_orphan();

  topology& topology_;
  office& office_;
  const std::function<void(role)> hire_;
  std::vector<fault> faults_;
  std::vector<wound> wounds_;
  choices choose_;
  instant next_orphan_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::int64_t last_ = 0;
};

}  // namespace holdfast::chaos
