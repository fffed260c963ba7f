#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/due_heap.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

/// Revoke requests that the store has sent, and the holdings that they are for. Not thread-safe.
class revoke_requests {
 public:
  using matches = std::vector<std::pair<std::shared_ptr<holding>, storage::revoke_request>>;

  void add(storage::revoke_request what) { new_.push_back(std::move(what)); }
  /// Removes the new requests and returns those for one of `all`. The others are kept as early ones.
  [[nodiscard]] matches take(const due_heap& all);
  /// Removes a request that arrived before this holding was added, as it may before the reply that grants the lock.
  [[nodiscard]] std::optional<storage::revoke_request> take_early(const holding&);

 private:
  std::vector<storage::revoke_request> new_;
  std::deque<storage::revoke_request> early_;
};

}  // namespace holdfast::core
