#include "chaos/topology.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace holdfast::chaos {

namespace {

auto& table() {
  static std::map<std::string, std::function<std::unique_ptr<topology>()>> all;
  return all;
}

}  // namespace

registered::registered(std::string name, std::function<std::unique_ptr<topology>()> make) {
  table()[std::move(name)] = std::move(make);
}

std::vector<std::string> topologies() {
  std::vector<std::string> names;
  for (const auto& [name, make] : table()) names.push_back(name);
  return names;
}

std::unique_ptr<topology> make_topology(const std::string& name) {
  const auto its = table().find(name);
  if (its == table().end()) throw std::runtime_error("there is no topology " + name);
  return its->second();
}

}  // namespace holdfast::chaos
