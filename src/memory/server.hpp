#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/cells.hpp"
#include "runtime/guarded.hpp"
#include "storage/claim.hpp"
#include "storage/lock_queue.hpp"

namespace holdfast::memory {

using storage::answer;
using storage::instant;
using storage::milliseconds;

/// What tests can switch on. "One in n": 0 is never, 1 is always.
struct faults {
  unsigned lose_requests = 0;                 ///< one in n is never carried out
  unsigned lose_replies = 0;                  ///< one in n is carried out, but nobody hears of it
  unsigned lose_pushes = 0;                   ///< one in n waiters is not told that it was granted
  std::optional<storage::failure> refusal{};  ///< every request is answered with this
};

/// Somebody who waits or holds here. It leaves before it dies.
class party {
 public:
  party(storage::claim_spec spec) : spec_(std::move(spec)) {}
  [[nodiscard]] const storage::claim_spec& spec() const noexcept { return spec_; }
  [[nodiscard]] runtime::signal& granted() noexcept { return granted_; }

 private:
  friend class server;
  const storage::claim_spec spec_;
  runtime::signal granted_;
};

/// A lock table in this process: first come, first served, with ttl and fences. Time is what the callers say it is.
class server {
 public:
  /// The one that all in this process share who give this name, for as long as one of them is there.
  [[nodiscard]] static std::shared_ptr<server> named(const std::string& name);

  struct state_of {
    bool ours;
    std::uint64_t fence;
    std::uint64_t fences;
    instant expires;     ///< when a holder's time is over, the first of them
    std::string holder;  ///< its label, if it is not us
  };
  /// Throws storage::failure when others use the name for something else.
  [[nodiscard]] state_of acquire(party&, instant now);
  [[nodiscard]] bool renew(const party&, milliseconds ttl, instant now);
  [[nodiscard]] bool downgrade(const party&, std::uint64_t fence, milliseconds ttl, instant now);
  [[nodiscard]] bool release(party&, instant now);
  void resize(const std::string& name, std::uint32_t whole, instant now);
  void leave(party&) noexcept;
  [[nodiscard]] state inspect(const std::string& name, instant now) const;
  /// In the order of their names; `next` is the last of them.
  [[nodiscard]] listing list(const std::string& prefix, const std::string& after, std::size_t most, instant now) const;
  /// False: nobody holds it, or not with that fence.
  [[nodiscard]] bool revoke(const std::string& name, const std::string& reason, std::uint64_t fence, instant now);
  /// False: nobody who holds it is meant.
  [[nodiscard]] bool break_lock(const storage::break_request&, instant now);
  /// Clients are notified of all revoke requests, whichever of them holds the lock, until they are removed.
  void add(storage::backend_events&);
  void remove(storage::backend_events&) noexcept;

  [[nodiscard]] cells& numbers() noexcept { return cells_; }

  static constexpr std::uint64_t fences_in_a_block = 64;
  /// How many fences come with a grant of this part.
  [[nodiscard]] static constexpr std::uint64_t fences_of(std::uint32_t part) noexcept {
    return part == storage::share::lock ? fences_in_a_block : 1;
  }

  void set_faults(const faults&);
  [[nodiscard]] bool faulty() const noexcept { return faulty_; }
  [[nodiscard]] faults current_faults() const;
  void forget_everything();  ///< as after a restart without data; those who wait have to poll again
  [[nodiscard]] std::size_t size() const noexcept;  ///< names that are held or waited for

 private:
  struct request {  // to let go
    state::note note;
    std::vector<storage::owner_id> whom;
  };
  struct breakage {
    state::note note;
    storage::owner_id id;
    instant at;
  };
  struct entry {
    storage::lock_queue claims;
    std::optional<request> asked{};
  };
  struct table {
    std::unordered_map<std::string, entry> locks;
    std::unordered_map<std::string, breakage> broken;
    std::map<storage::owner_id, party*> waiting;  // also some that were admitted and have not polled since
    std::uint64_t last_fence = 0;
    std::uint64_t pushes = 0;
    faults wanted;
  };
  struct bounds {  // of what is listed
    std::size_t holders, waiters;
  };
  [[nodiscard]] static state look(const table&, const std::string& name, const bounds&, instant now);
  void tell(const std::vector<storage::revoke_request>&);
  static entry& entry_of(table&, const std::string& name);
  runtime::guarded<table> table_;
  cells cells_;
  runtime::guarded<std::vector<storage::backend_events*>> clients_;
  std::atomic<bool> faulty_{false};
};

}  // namespace holdfast::memory
