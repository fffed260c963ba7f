#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "planted.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// What the locks protect: a counter for each name, which admits a fence not lower than the highest it has seen, on
/// reads and on writes.
class resource {
 public:
  explicit resource(world& w) : world_(w) {}

  /// Nothing: refused.
  std::optional<std::uint64_t> read(const std::string& name, std::uint64_t fence) {
    counter& c = counters_[name];
    if (!planted(bug::unfenced_reads) && !admit(c, fence)) return std::nullopt;
    return c.value;
  }

  bool write(const std::string& name, std::uint64_t fence, std::uint64_t value) {
    counter& c = counters_[name];
    if (!admit(c, fence)) return false;
    if (value != c.value + 1) world_.violate("I2: an update of " + name + " was lost");
    c.value = value;
    return true;
  }

 private:
  struct counter {
    std::uint64_t top = 0;
    std::uint64_t value = 0;
  };
  static bool admit(counter& c, std::uint64_t fence) {
    if (fence < c.top) return false;
    c.top = fence;
    return true;
  }
  world& world_;
  std::map<std::string, counter> counters_;
};

}  // namespace holdfast::sim
