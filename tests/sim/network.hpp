#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "sim/world.hpp"

namespace holdfast::sim {

/// The network faults between clients and server in one run. Each run enables a random subset.
struct weather {
  double lose = 0;       ///< a message never arrives
  double duplicate = 0;  ///< it arrives twice
  double late = 0;       ///< it arrives after up to a third of a second, when its receiver no longer expects it
  double refuse = 0;     ///< a period in which the server refuses connections begins
};

/// Delivers messages, which may overtake one another because connections are cut and reopened.
class network {
 public:
  explicit network(world& w) : world_(w) {}
  weather now;
  std::uint64_t faults = 0;

  /// `arrive` may run never, once or twice; `alive` is asked when it would.
  void send(const std::function<bool()>& alive, const std::function<void()>& arrive) {
    using namespace std::chrono_literals;
    if (world_.chance(now.lose)) {
      world_.note("message lost");
      ++faults;
      return;
    }
    const int copies = world_.chance(now.duplicate) ? 2 : 1;
    faults += static_cast<std::uint64_t>(copies - 1);
    for (int n = 0; n < copies; ++n) {
      const bool late = world_.chance(now.late);
      if (late) ++faults;
      world_.in(late ? world_.between(5ms, 350ms) : world_.between(30us, 2ms), [alive, arrive] {
        if (alive()) arrive();
      });
    }
  }

  /// Returns how long a piece of a byte stream is in transit, or nothing if it is lost, and with it the
  /// connection.
  [[nodiscard]] std::optional<real> piece() {
    using namespace std::chrono_literals;
    if (world_.chance(now.lose / 4)) {  // a stream repeats most of what is lost by itself
      ++faults;
      return std::nullopt;
    }
    const bool late = world_.chance(now.late);
    if (late) ++faults;
    return late ? world_.between(5ms, 350ms) : world_.between(30us, 2ms);
  }

  void refuse_until(real when) {
    ++faults;
    refused_until_ = when;
  }
  [[nodiscard]] bool refuses() const noexcept { return world_.now() < refused_until_; }

 private:
  world& world_;
  real refused_until_{0};
};

}  // namespace holdfast::sim
