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

/// A store's yes: a block of fences, the next ones of this name, and until when it is ours.
struct grant {
  /// The first; higher than every fence of an earlier grant. Readers who are in at one time have one and the same: a
  /// resource that refuses lower ones must not refuse the older of two readers. Of permits it is only a number.
  std::uint64_t fence = 0;
  std::uint64_t fences = 1;  ///< how many in a row are ours
  instant deadline{};        ///< see deadline_after(); never, where the store needs no ttl
};

/// When a lease ends for its holder: a hundredth of the ttl and 2 ms before the store can give it to another. `sent`
/// was read before the first byte went out.
[[nodiscard]] instant deadline_after(instant sent, milliseconds ttl) noexcept;

struct claim_spec {
  std::string name;
  owner_id owner{};
  share wants{};
  milliseconds ttl{};
  /// Of the ttl, what its holder does not count on: see core::delayed. A store that notices a death before the ttl is
  /// over keeps the claim closed for so long from then on.
  milliseconds delay{0};
  bool fixed = false;   ///< gone after its ttl, on every store
  bool queue = true;    ///< false: one look, without taking a place
  bool barges = false;  ///< of a whole lock: takes it when it is free, though others wait for it
  std::string label{};  ///< for whoever asks who holds it
};

/// One party's place at one lock: a key, a node in a queue, a row, a byte in a file. It has state, so that a store with
/// a ttl (Redis, SQL) and one with sessions and queues (ZooKeeper, etcd, the directory) fit the same hole.
///
/// Core makes one call at a time, from any thread, each with the io of whoever calls. A limit cuts a wait at once; a
/// request on the wire is not cut: the caller leaves with *unknown*, and the reply is read and dropped in its turn.
class claim {
 public:
  virtual ~claim() = default;
  /// yes: ours (also if it was already: it adopts its orphan), with a fresh deadline; no: we keep our place. Like
  /// renew(), it never shortens: a request that was given up may arrive after later ones, with a ttl that has changed
  /// since.
  virtual task<answer<grant>> poll(io&, limit) = 0;
  /// Until polling again is worth it (signalled), or for the limit. May be early; never waits for a message alone.
  virtual task<wake> wakeup(io&, limit) = 0;
  /// yes: until when at least; no: it is not ours. Never creates, never shortens.
  virtual task<answer<instant>> renew(io&, milliseconds ttl, limit) = 0;
  /// The holder of a whole lock becomes a reader, without a gap, and keeps its fence; readers who are first in line
  /// come in too. yes: until when at least; no: it is not ours. Asking again after no answer does no harm.
  /// A store that knows no readers has nothing to do here.
  virtual task<answer<instant>> downgrade(io&, std::uint64_t fence, milliseconds ttl, limit);
  /// Gives it back, or leaves the queue. no: it was not ours any more.
  virtual task<answer<done>> release(io&, limit) = 0;
  /// Of several names that are claimed as one: the fence of this one, once they are ours. Else 0.
  [[nodiscard]] virtual std::uint64_t fence_of(std::string_view /*name*/) const noexcept { return 0; }
  /// The same of the part that the store knows by this id; 0 if there is none.
  [[nodiscard]] virtual std::uint64_t fence_of(const owner_id&) const noexcept { return 0; }
  /// How many servers more may lose it before it is gone, as far as is known; of a store that is one server 0. Once it
  /// was granted, from any thread at any time.
  [[nodiscard]] virtual std::size_t margin() const noexcept { return 0; }
  /// When one part is lost the others are still ours, and have to be given back.
  [[nodiscard]] virtual bool has_parts() const noexcept { return false; }
  /// As far as is known now: it may move. Also while another call is under way.
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
  /// What operators do with its locks. By default unsupported.
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
