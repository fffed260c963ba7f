#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/world.hpp"

namespace holdfast::sim {

/// The resource that the locks protect: a counter for each name, which admits a fence not lower than the highest it has
/// seen, on reads and on writes.
class resource {
 public:
  explicit resource(world& w) : world_(w) {}

  /// Returns nothing if the fence is refused.
  std::optional<std::uint64_t> read(const std::string& name, std::uint64_t fence);
  bool write(const std::string& name, std::uint64_t fence, std::uint64_t value);

 private:
  struct counter {
    std::uint64_t top = 0;
    std::uint64_t value = 0;
  };
  static bool admit(counter&, std::uint64_t fence);

  world& world_;
  std::map<std::string, counter> counters_;
};

}  // namespace holdfast::sim
