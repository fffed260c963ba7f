#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/limit.hpp"
#include "holdfast/store.hpp"
#include "runtime/clock.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "storage/admin.hpp"
#include "storage/answer.hpp"
#include "storage/backend_events.hpp"
#include "storage/cell.hpp"
#include "storage/owner.hpp"
#include "storage/share.hpp"

/// The store interface: what a store implements, and all that core knows about it. To add a store, implement `claim`
/// and `backend`.
namespace holdfast::storage {

using runtime::instant;
using runtime::io;
using runtime::task;
using runtime::wake;
using std::chrono::milliseconds;

/// A store's yes: the next block of fences of this name, and the deadline of the lease.
struct grant {
  /// The first fence, higher than every fence of an earlier grant. Readers that hold the lock together share one,
  /// because a resource that rejects lower fences must not reject the older of two readers. For permits it is just a
  /// number.
  std::uint64_t fence = 0;
  std::uint64_t fences = 1;  ///< the size of the block
  instant deadline{};        ///< see deadline_after(); never if the store needs no ttl
};

/// Returns when a lease ends for its holder: a hundredth of the ttl and 2 ms before the store can grant the lock to
/// another client. `sent` was read before the first byte of the request was sent.
[[nodiscard]] instant deadline_after(instant sent, milliseconds ttl) noexcept;

struct claim_spec {
  std::string name;
  owner_id owner{};
  share wants{};
  milliseconds ttl{};
  /// The part of the ttl that the holder does not use: see core::delayed. A store that notices the death of a holder
  /// before the ttl ends keeps the lock closed for this long from then on.
  milliseconds delay{0};
  bool fixed = false;   ///< expires after its ttl, on every store
  bool queue = true;    ///< false: returns instead of queueing
  bool barges = false;  ///< takes a free whole lock although others wait for it
  std::string label{};  ///< shown by inspect()
};

/// One client's claim on one lock, waiting or held: a key, a node in a queue, a row, a byte in a file. It has state, so
/// that stores with a ttl (Redis, SQL) and stores with sessions and queues (ZooKeeper, etcd, the directory) can both
/// implement it.
///
/// Core makes one call at a time, from any thread, each with the io of its caller. A limit ends a wait at once. It does
/// not end a request: the caller leaves with *unknown*, and the reply is read and dropped in its turn.
class claim {
 public:
  virtual ~claim() = default;
  /// yes: the lock is ours, with a fresh deadline, also if an earlier request had acquired it; no: we keep our place in
  /// the queue. Like renew(), it never shortens a lease: a request that was given up may arrive after later ones, with
  /// an outdated ttl.
  virtual task<answer<grant>> poll(io&, limit) = 0;
  /// Waits until polling again is worthwhile (signalled), or for the limit. May be early. Never relies on a message
  /// alone.
  virtual task<wake> wakeup(io&, limit) = 0;
  /// yes: the new deadline; no: the lock is not ours. Never acquires, never shortens.
  virtual task<answer<instant>> renew(io&, milliseconds ttl, limit) = 0;
  /// Makes the holder of a whole lock a reader, without a gap. It keeps its fence, and readers that are first in line
  /// are admitted too. yes: the new deadline; no: the lock is not ours. Repeating the call after an unknown does no
  /// harm. Unsupported by default.
  virtual task<answer<instant>> downgrade(io&, std::uint64_t fence, milliseconds ttl, limit);
  /// Releases the lock, or leaves the queue. no: it was not ours any more.
  virtual task<answer<done>> release(io&, limit) = 0;
  /// The fence of one of several names that are claimed together, once they are ours; otherwise 0.
  [[nodiscard]] virtual std::uint64_t fence_of(std::string_view /*name*/) const noexcept { return 0; }
  /// The fence of the part that has this id in the store; 0 if there is none.
  [[nodiscard]] virtual std::uint64_t fence_of(const owner_id&) const noexcept { return 0; }
  /// How many servers may lose the lease before it is lost, as far as is known; 0 if the store is one server. May be
  /// called from any thread once the claim was granted.
  [[nodiscard]] virtual std::size_t margin() const noexcept { return 0; }
  /// Returns true if a lost claim may still have parts at the store that must be released.
  [[nodiscard]] virtual bool has_parts() const noexcept { return false; }
  /// The current shard, as far as is known; it may change. May be called during another call.
  [[nodiscard]] virtual shard lies_on() const noexcept { return no_shard; }
};

/// A lock service, as one client sees it. Outlives its claims. Its members are called from any thread.
class backend {
 public:
  virtual ~backend() = default;
  [[nodiscard]] virtual std::unique_ptr<claim> open(claim_spec) = 0;
  /// Opens several names, all or nothing; the fence is that of the first. By default a bundle of claims, polled one by
  /// one.
  [[nodiscard]] virtual std::unique_ptr<claim> open_all(std::vector<claim_spec>);
  /// A store that keeps no numbers returns a cell that is unsupported.
  [[nodiscard]] virtual std::unique_ptr<cell> open_cell(std::string name);
  /// The operators' calls on its locks. By default unsupported.
  [[nodiscard]] virtual storage::admin& admin() noexcept;
  /// Sets where the store reports what happens to it. Called once, before the first claim is opened; the events live
  /// until close().
  virtual void start(backend_events&) {}
  /// All claims are gone, and no call will come: ends what runs by itself on the loop, which runs until then.
  virtual void close() noexcept {}
  [[nodiscard]] virtual guarantees promises() const noexcept = 0;
};

/// The answer of a store that keeps whole locks only.
[[nodiscard]] failure only_whole_locks();

}  // namespace holdfast::storage
