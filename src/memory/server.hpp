#pragma once
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/guarded.hpp"
#include "store/claim.hpp"

namespace holdfast::memory {

using seam::answer;
using seam::instant;
using seam::milliseconds;

/// What tests can switch on. "One in n": 0 is never, 1 is always.
struct faults {
  unsigned lose_requests = 0;              ///< one in n is never carried out
  unsigned lose_replies = 0;               ///< one in n is carried out, but nobody hears of it
  unsigned lose_pushes = 0;                ///< one in n waiters is not told that it was granted
  std::optional<seam::failure> refusal{};  ///< every request is answered with this
};

/// Somebody who waits or holds here. It leaves before it dies.
class party {
 public:
  party(seam::claim_spec spec) : spec_(std::move(spec)) {}
  [[nodiscard]] const seam::claim_spec& spec() const noexcept { return spec_; }
  [[nodiscard]] runtime::signal& granted() noexcept { return granted_; }

 private:
  friend class server;
  const seam::claim_spec spec_;
  runtime::signal granted_;
  std::optional<std::list<party*>::iterator> place_;  // in the queue, under the server's lock
};

/// A lock table in this process: first come, first served, with ttl and fences. Time is what the callers say it is.
class server {
 public:
  /// The one that all in this process share who give this name, for as long as one of them is there.
  [[nodiscard]] static std::shared_ptr<server> named(const std::string& name);

  struct state_of {
    bool ours;
    std::uint64_t fence;
    instant expires;     ///< of whoever holds it
    std::string holder;  ///< its label, if it is not us
  };
  [[nodiscard]] state_of acquire(party&, instant now);
  [[nodiscard]] bool renew(const party&, milliseconds ttl, instant now);
  [[nodiscard]] bool release(party&, instant now);
  void leave(party&) noexcept;

  static constexpr std::uint64_t fences_in_a_block = 64;

  void set_faults(const faults&);
  [[nodiscard]] bool faulty() const noexcept { return faulty_; }
  [[nodiscard]] faults current_faults() const;
  void forget_everything();  ///< as after a restart without data; those who wait have to poll again
  [[nodiscard]] std::size_t size() const noexcept;  ///< names that are held or waited for

 private:
  struct entry {
    seam::owner_id owner{};
    instant expires = instant::min();
    std::string label;
    std::list<party*> line;
  };
  struct table {
    std::unordered_map<std::string, entry> locks;
    std::uint64_t last_fence = 0;
    std::uint64_t pushes = 0;
    faults wanted;
  };
  static void grant_to_first(table&, entry&, instant now);
  static void give(entry&, const party&, instant now);
  static void take_out_of_line(entry&, party&) noexcept;
  runtime::guarded<table> table_;
  std::atomic<bool> faulty_{false};
};

}  // namespace holdfast::memory
