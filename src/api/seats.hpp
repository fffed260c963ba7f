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

/// Who holds a lock through one object, a mutex of some kind: a seat for each thread, with its lease.
class seats {
 public:
  /// Throws lock_error when the name or an option is bad.
  seats(std::shared_ptr<service>, std::string_view name, const lock_options&);

  enum class kind { whole, reader };
  [[nodiscard]] bool seated() const;  ///< this thread, in whatever kind
  void refuse_second() const;         ///< throws would_deadlock if this thread is seated
  [[nodiscard]] bool acquire(const limit&, kind = kind::whole);
  /// Ends this thread's own seat, of whichever kind; else the oldest of that kind, so that a unique_lock may be moved
  /// to another thread. If there is none, the observer gets a warning.
  void leave(kind = kind::whole) noexcept;

  /// Once more, for a thread that is seated. False: it is not. Throws lock_error(lost) when its lease is.
  [[nodiscard]] bool enter_again();
  /// Once less, and out with the last. A thread that is not seated is reported to the observer.
  void leave_own() noexcept;

  /// This thread's whole lock becomes a reader's place. Throws lock_error; then the seat counts as one of either kind.
  void downgrade();

  [[nodiscard]] const lease& current() const;  ///< this thread's; throws lock_error(lost) when it has none
  [[nodiscard]] bool forked() const noexcept;

 private:
  struct seat {
    seat(std::uint64_t who_, kind what_, lease held_) noexcept;
    std::uint64_t who;
    kind what;
    bool may_read = false;  // a downgrade was asked for, and is not known to have succeeded
    unsigned depth = 1;
    lease held;
  };
  using all_seats = std::vector<std::unique_ptr<seat>>;
  [[nodiscard]] seat* mine() const;

  const std::shared_ptr<service> service_;
  const std::string name_;
  const core::terms whole_, reader_;
  runtime::guarded<all_seats> all_;
};

}  // namespace holdfast::detail
