#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chaos/conditions.hpp"

/// A topology: servers, and the faults that can happen to them.
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

/// A fault of some part of a topology. A part has one fault at a time, so a fault of a server need not handle that the
/// server is already down.
struct fault {
  std::string name;  ///< one word, used in statistics
  std::string part;  ///< where: "server", "line 2"
  std::function<void(choices&)> begin;
  std::function<void()> end = {};          ///< ends the fault; if empty, it ends at once
  unsigned weight = 1;                     ///< relative frequency
  std::chrono::milliseconds longest{900};  ///< its duration is random, up to this and 10 s at most
};

/// The servers run while it exists. All members are called on one thread.
class topology {
 public:
  virtual ~topology() = default;
  /// The URL for the n-th client; clients may use different addresses.
  [[nodiscard]] virtual std::string url(unsigned client) const = 0;
  /// What holds under the faults that it offers. Violations of the rest are only counted.
  [[nodiscard]] virtual promises promised() const = 0;
  /// Called once. The faults may refer to the topology.
  [[nodiscard]] virtual std::vector<fault> faults() = 0;
  /// Called when all faults have ended: waits until the servers work as in the beginning.
  virtual void recover() {}
  /// Whether read locks and permits work.
  [[nodiscard]] virtual bool shares() const { return true; }
  /// For the naive lock: the path of a server's socket, with the same faults. Several are separated by commas; the
  /// client uses the next one when one fails.
  [[nodiscard]] virtual std::string naive_sockets() const = 0;
  /// The keys of locks and queues that remain when all faults and clients have ended.
  [[nodiscard]] virtual std::vector<std::string> leftovers() = 0;
};

/// Registers a topology by name; it is created when it is used.
struct registered {
  registered(std::string name, std::function<std::unique_ptr<topology>()> make);
};

[[nodiscard]] std::vector<std::string> topologies();
/// Throws std::runtime_error if no topology has that name.
[[nodiscard]] std::unique_ptr<topology> make_topology(const std::string& name);

}  // namespace holdfast::chaos
