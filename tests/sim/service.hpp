#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sim/client_io.hpp"
#include "sim/watchful.hpp"

namespace holdfast::sim {

/// One client's side of a store. It outlives its process, which may crash.
class access {
 public:
  virtual ~access() = default;
  [[nodiscard]] virtual watchful& store() = 0;
  /// Ends the process: it receives no more messages, and those that it sent are dropped.
  virtual void crash() = 0;
  /// Returns the number of its calls that wait for a reply.
  [[nodiscard]] virtual std::size_t waiting() const = 0;
};

/// The store of one run: its server, and the clients' ways to it.
class service {
 public:
  virtual ~service() = default;
  [[nodiscard]] virtual std::unique_ptr<access> connect(client_io& loop) = 0;
  /// Returns whether two clients never hold a lock at once. If the server loses its state, only fences protect.
  [[nodiscard]] virtual bool exclusive() const = 0;
  [[nodiscard]] virtual const std::vector<std::chrono::milliseconds>& ttls() const = 0;

  /// Called now and then while there are faults. Injects faults of the server and of the victim's connections, and
  /// returns their number.
  virtual std::uint64_t trouble(access& victim) = 0;
  virtual void heal() {}  ///< ends all faults
  /// After this time without requests a server has forgotten everything.
  [[nodiscard]] virtual real rest() const = 0;
  [[nodiscard]] virtual std::string leftovers() = 0;               ///< after that: locks and places
  [[nodiscard]] virtual std::string left_after_a_day() const = 0;  ///< everything
};

}  // namespace holdfast::sim
