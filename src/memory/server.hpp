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

/// Faults that tests can switch on. "One in n": 0 is never, 1 is always.
struct faults {
  unsigned lose_requests = 0;                 ///< one in n is never carried out
  unsigned lose_replies = 0;                  ///< one in n is carried out, but its reply is lost
  unsigned lose_pushes = 0;                   ///< one in n waiters is not notified of its grant
  std::optional<storage::failure> refusal{};  ///< every request is answered with this
};

/// A claim that waits or holds here. Its owner calls leave() before it destroys it.
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

/// A lock table in this process: first come, first served, with ttl and fences. Callers pass the time.
class server {
 public:
  /// Returns the server that all clients in this process share by this name, while one of them exists.
  [[nodiscard]] static std::shared_ptr<server> named(const std::string& name);

  struct state_of {
    bool ours;
    std::uint64_t fence;
    std::uint64_t fences;
    instant expires;     ///< when the first holder's lease ends
    std::string holder;  ///< the holder's label, unless we hold it
  };
  /// Throws storage::failure if the name is in use with another number of permits.
  [[nodiscard]] state_of acquire(party&, instant now);
  [[nodiscard]] bool renew(const party&, milliseconds ttl, instant now);
  [[nodiscard]] bool downgrade(const party&, std::uint64_t fence, milliseconds ttl, instant now);
  [[nodiscard]] bool release(party&, instant now);
  void resize(const std::string& name, std::uint32_t whole, instant now);
  void leave(party&) noexcept;
  [[nodiscard]] state inspect(const std::string& name, instant now) const;
  /// Lists names in order; `next` is the last of them.
  [[nodiscard]] listing list(const std::string& prefix, const std::string& after, std::size_t most, instant now) const;
  /// Returns false if the name is not held, or not with that fence.
  [[nodiscard]] bool revoke(const std::string& name, const std::string& reason, std::uint64_t fence, instant now);
  /// Returns false if no holder is meant.
  [[nodiscard]] bool break_lock(const storage::break_request&, instant now);
  /// Clients are notified of all revoke requests, whichever of them holds the lock, until they are removed.
  void add(storage::backend_events&);
  void remove(storage::backend_events&) noexcept;

  [[nodiscard]] cells& numbers() noexcept { return cells_; }

  static constexpr std::uint64_t fences_in_a_block = 64;
  /// The number of fences in a grant of this part.
  [[nodiscard]] static constexpr std::uint64_t fences_of(std::uint32_t part) noexcept {
    return part == storage::share::lock ? fences_in_a_block : 1;
  }

  void set_faults(const faults&);
  [[nodiscard]] bool faulty() const noexcept { return faulty_; }
  [[nodiscard]] faults current_faults() const;
  void forget_everything();                         ///< as after a restart without data; waiters have to poll again
  [[nodiscard]] std::size_t size() const noexcept;  ///< names that are held or waited for

 private:
  struct revocation {
    state::note note;
    std::vector<storage::owner_id> holders;
  };
  struct breakage {
    state::note note;
    storage::owner_id id;
    instant at;
  };
  struct entry {
    storage::lock_queue claims;
    std::optional<revocation> asked{};
  };
  struct table {
    std::unordered_map<std::string, entry> locks;
    std::unordered_map<std::string, breakage> broken;
    std::map<storage::owner_id, party*> waiting;  // also claims that were admitted and have not polled since
    std::uint64_t last_fence = 0;
    std::uint64_t pushes = 0;
    faults wanted;
  };
  struct bounds {  // for the lists in a state
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
