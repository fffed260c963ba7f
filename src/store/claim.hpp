#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "holdfast/limit.hpp"
#include "holdfast/store.hpp"
#include "runtime/clock.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "store/answer.hpp"

/// The seam: what a store has to do, and all that core knows of it. To add a store, write these two classes.
namespace holdfast::seam {

using runtime::instant;
using runtime::io;
using runtime::task;
using runtime::wake;
using std::chrono::milliseconds;

/// The id of one claim: random, never used twice.
struct owner_id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const owner_id&, const owner_id&) = default;
};

/// A store's yes: a block of fences, the next ones of this name, and until when it is ours.
struct grant {
  std::uint64_t fence = 0;   ///< the first; higher than every fence of an earlier grant
  std::uint64_t fences = 1;  ///< how many in a row are ours
  instant deadline{};        ///< see deadline_after(); never, where the store needs no ttl
};

/// When a lease ends for its holder: a hundredth of the ttl and 2 ms before the store can give it to another. `sent`
/// was read before the first byte went out.
[[nodiscard]] instant deadline_after(instant sent, milliseconds ttl) noexcept;

struct claim_spec {
  std::string name;
  owner_id owner{};
  milliseconds ttl{};
  bool fixed = false;   ///< gone after its ttl, on every store
  bool queue = true;    ///< false: one look, without taking a place
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
  /// Gives it back, or leaves the queue. no: it was not ours any more.
  virtual task<answer<done>> release(io&, limit) = 0;
};

/// A lock service, as one client sees it. Outlives its claims. Its members are called from any thread.
class backend {
 public:
  virtual ~backend() = default;
  [[nodiscard]] virtual std::unique_ptr<claim> open(claim_spec) = 0;
  /// `verify` lets all that is held be renewed at once. Call it, from any thread, when the store may have lost its
  /// state. Told once, before the first claim.
  virtual void when_in_doubt(std::function<void()> /*verify*/) {}
  /// All claims are gone, and no call will come: ends what runs by itself on the loop, which runs until then.
  virtual void close() noexcept {}
  [[nodiscard]] virtual guarantees promises() const noexcept = 0;
};

}  // namespace holdfast::seam
