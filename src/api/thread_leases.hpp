#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/holding.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/options.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::detail {

class service;

/// The leases of a lock that is held through one object, a mutex of some kind: one for each thread.
class thread_leases {
 public:
  /// Throws lock_error if the name or an option is invalid.
  thread_leases(std::shared_ptr<service>, std::string_view name, const lock_options&);

  enum class kind { whole, reader };
  [[nodiscard]] bool held_by_this_thread() const;  ///< as either kind
  void check_not_held() const;                     ///< throws would_deadlock if this thread holds it
  [[nodiscard]] bool acquire(const limit&, kind = kind::whole);
  /// Releases this thread's lease, of either kind; otherwise the oldest one of that kind, so that a unique_lock may be
  /// moved to another thread. If there is none, the observer gets a warning.
  void unlock(kind = kind::whole) noexcept;

  /// Locks once more if this thread holds the lock, and returns whether it does. Throws lock_error(lost) if its lease
  /// is lost.
  [[nodiscard]] bool relock();
  /// Undoes one relock(), or releases the lease. If this thread holds nothing, the observer gets a warning.
  void unlock_once() noexcept;

  /// Turns this thread's lease into a reader's. Throws lock_error; then unlock() of either kind releases it.
  void downgrade();

  [[nodiscard]] const lease& current() const;  ///< this thread's; throws lock_error(lost) if it holds nothing
  [[nodiscard]] bool forked() const noexcept;

 private:
  struct entry {
    entry(std::uint64_t thread_, kind what_, lease held_) noexcept;
    std::uint64_t thread;
    kind what;
    bool may_read = false;  // a downgrade was requested, and may not have succeeded
    unsigned depth = 1;
    lease held;
  };
  using entries = std::vector<std::unique_ptr<entry>>;
  [[nodiscard]] entry* mine() const;

  const std::shared_ptr<service> service_;
  const std::string name_;
  const core::terms whole_, reader_;
  runtime::guarded<entries> all_;
};

}  // namespace holdfast::detail
