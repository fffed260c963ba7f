#include "sim/resource.hpp"

#include "seeded_bugs.hpp"

namespace holdfast::sim {

std::optional<std::uint64_t> resource::read(const std::string& name, std::uint64_t fence) {
  counter& c = counters_[name];
  if (!seeded(bug::unfenced_reads) && !admit(c, fence)) return std::nullopt;
  return c.value;
}

bool resource::write(const std::string& name, std::uint64_t fence, std::uint64_t value) {
  counter& c = counters_[name];
  if (!admit(c, fence)) return false;
  if (value != c.value + 1) world_.violate("I2: an update of " + name + " was lost");
  c.value = value;
  return true;
}

bool resource::admit(counter& c, std::uint64_t fence) {
  if (fence < c.top) return false;
  c.top = fence;
  return true;
}

}  // namespace holdfast::sim
