#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "redis_server.hpp"

namespace bench {

/// A cluster of primaries with evenly distributed slots and without replicas.
class redis_cluster {
 public:
  explicit redis_cluster(std::size_t primaries);
  [[nodiscard]] std::string url() const;
  void kill(std::size_t node) { nodes_[node]->kill(); }
  /// Returns the node of each lock, as reported by a live node.
  [[nodiscard]] std::vector<std::size_t> homes_of(const std::vector<std::string>& names, std::size_t asked) const;

 private:
  [[nodiscard]] std::size_t first_slot_of(std::size_t node) const noexcept { return node * 16384 / nodes_.size(); }
  std::vector<std::unique_ptr<redis_server>> nodes_;
};

}  // namespace bench
