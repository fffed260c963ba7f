#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/owner.hpp"

namespace holdfast::storage {

/// The server on which a claim lies, in a store that consists of several. A small number.
using shard = std::size_t;
/// The store has no shards, the claim lies on several of them, or the shard is unknown.
constexpr shard no_shard = 0;

/// A request that a holder release its lock, or the news that the lock was broken.
struct revoke_request {
  owner_id owner{};
  std::uint64_t fence = 0;  ///< only the lease with this fence is meant; 0: any lease of the owner
  std::string reason{};
  bool broken = false;  ///< the lock was broken: the next renewal, which is due now, says so
};

/// What a store reports to its engine. A store may call these from any thread. They return at once and run no user
/// code.
class backend_events {
 public:
  virtual ~backend_events() = default;
  /// The store may have lost its state: every lease on that shard is renewed at once; no_shard: every lease.
  virtual void in_doubt(shard) noexcept {}
  /// The store, or a part of it, is reachable again: callers that pause between retries ask at once. A store does not
  /// call this for every reply, because the pauses spare it.
  virtual void back() noexcept {}
  /// A holder of this client is asked to release its lock, or has lost it by force. May come more than once, and before
  /// the poll that grants the lock is answered.
  virtual void revoke_requested(revoke_request) noexcept {}
  /// Reports a problem of the store to the program's observer.
  virtual void warning(std::string_view) noexcept {}
};

}  // namespace holdfast::storage
