#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chaos/conditions.hpp"

/// What the chaos is about: servers, and what can happen to them.
///
/// To add one: a file of its own in this folder with a class like `one_server` (redis_one.cpp), at its end
///
///     const registered mine{"redlock_3", [] { return std::make_unique<redlock>(3); }};
///
/// and a line in CMakeLists.txt: `chaos_test(redlock_3 redlock.cpp)`. Clients, nemesis, resource and checker are the
/// same for all; redis_faults.hpp has what those of Redis share. The run is then in `make test`, and in `make chaos
/// TOPOLOGY=redlock_3 TIME=10m`.
namespace holdfast::chaos {

using choices = std::mt19937_64;

/// Something that goes wrong at some part of a topology. Two faults are never at one part at a time, so a fault of a
/// server need not mind that the server is dead already.
struct fault {
  std::string name;  ///< one word, as it is counted
  std::string part;  ///< where: "server", "line 2"
  std::function<void(choices&)> begin;
  std::function<void()> end = {};          ///< mends it; none: it is over at once
  unsigned weight = 1;                     ///< how often, beside the others
  std::chrono::milliseconds longest{900};  ///< lasts for a part of that, 10 s at most
};

/// Its servers run while it lives. All members are called on one thread.
class topology {
 public:
  virtual ~topology() = default;
  /// For the n-th client: they need not all take the same way.
  [[nodiscard]] virtual std::string url(unsigned client) const = 0;
  /// What it promises under the faults that it offers, and no more: the rest is counted.
  [[nodiscard]] virtual promises promised() const = 0;
  /// They are asked for once; they may refer to the topology.
  [[nodiscard]] virtual std::vector<fault> faults() = 0;
  /// All faults are over: waits until the servers are as able as in the beginning.
  virtual void recover() {}
  /// Readers and permits work, too.
  [[nodiscard]] virtual bool shares() const { return true; }
  /// For the naive lock, under the same faults: the path of a server's socket. Or several, with commas between them: it
  /// goes to the next when one fails.
  [[nodiscard]] virtual std::string naive_sockets() const = 0;
  /// All faults are over, and all clients have gone: what is there of locks and queues?
  [[nodiscard]] virtual std::vector<std::string> leftovers() = 0;
};

/// By its name; made when it is to be used.
struct registered {
  registered(std::string name, std::function<std::unique_ptr<topology>()> make);
};

[[nodiscard]] std::vector<std::string> topologies();
/// Throws std::runtime_error when there is none of that name.
[[nodiscard]] std::unique_ptr<topology> make_topology(const std::string& name);

}  // namespace holdfast::chaos
