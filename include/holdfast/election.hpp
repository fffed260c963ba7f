#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"

namespace holdfast {

namespace core {
class announcement;
}
namespace detail {
class candidate;
class follower;
}  // namespace detail

/// One term of leading: the lease of the election's lock, and the announcement of it, which all can see. Move-only, and
/// for threads as a lease is.
class [[nodiscard]] leadership {
 public:
  leadership(leadership&&) noexcept;
  leadership& operator=(leadership&&) noexcept;  ///< resigns from what it had
  ~leadership();                                 ///< resigns

  [[nodiscard]] std::uint64_t fence() const noexcept;  ///< the term: higher than those of all who led before
  /// Not resigned, not lost, before the deadline. Local: reads a clock.
  [[nodiscard]] bool held() const noexcept;
  [[nodiscard]] boot_clock::duration remaining() const noexcept;  ///< until the deadline; 0 when not held
  /// The lease of the election's lock: its owner, its deadline. It is given back by resign().
  [[nodiscard]] const lease& as_lease() const noexcept { return lease_; }
  /// As lease::renew().
  bool renew(std::chrono::milliseconds ttl) { return lease_.renew(ttl); }
  /// Stops when it is lost, not when it is resigned from.
  [[nodiscard]] std::stop_token lost_token() const;
  /// Stops when somebody asks whoever leads to let go: see store::revoke(). Whether to resign is for the leader to say.
  [[nodiscard]] std::stop_token revoke_requested() const;
  /// Takes the announcement back, in the background, and releases the lock, as lease::release() does.
  released resign() noexcept;

 private:
  friend class detail::candidate;
  leadership(lease, std::shared_ptr<core::announcement>) noexcept;
  lease lease_;
  std::shared_ptr<core::announcement> announced_;
};

/// Who leads.
struct leader {
  std::uint64_t fence = 0;
  std::string label{};  ///< of its lock_options
  friend bool operator==(const leader&, const leader&) = default;
};

/// What one who watches an election has seen. Leaders come in the order of their fences: an older one never after a
/// newer one. One that crashed is seen for its ttl at most. One thread at a time.
class leaders {
 public:
  leaders(leaders&&) noexcept;
  leaders& operator=(leaders&&) noexcept;
  ~leaders();

  /// As of the last look; nobody: none was announced. Local.
  [[nodiscard]] std::optional<leader> current() const;
  /// Until current() is another than before; it may have changed more than once. False: not within the limit, or the
  /// limit's token asked us to stop. within(0s) is one look. Throws lock_error when the store fails.
  bool wait_for_change(const limit&);

 private:
  friend class election;
  explicit leaders(std::unique_ptr<detail::follower>) noexcept;
  std::unique_ptr<detail::follower> follower_;
};

/// At most one leads, of all processes that name it; the others wait to lead, or watch. Whoever leads holds the lock
/// `name`, and all that is said of locks holds for it: check fences where it matters.
class election {
 public:
  /// The label is what others see. Throws lock_error.
  election(const store&, std::string_view name, const lock_options& = {});
  election(const election&) = delete;
  election& operator=(const election&) = delete;
  ~election();

  /// Waits as long as it takes, in order of arrival. Throws lock_error when the store fails.
  leadership campaign();
  /// Returns an empty optional if it was not elected within the limit, or the limit's token was stopped; see limit.
  [[nodiscard]] std::optional<leadership> try_campaign(const limit&);
  /// Has looked once. Whoever watches needs no right to lead.
  [[nodiscard]] leaders observe() const;

 private:
  std::unique_ptr<detail::candidate> candidate_;
};

}  // namespace holdfast
