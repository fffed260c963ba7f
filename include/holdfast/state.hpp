#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Who holds a name and who waits for it, as the store saw it in one moment: when it is read, it may have changed.
struct state {
  /// Somebody who holds or waits. What the store does not know is empty, or 0.
  struct party {
    std::string owner;  ///< as lease::owner()
    std::string label;
    std::string host;
    std::int64_t pid = 0;
    std::string program;
    std::uint32_t permits = 0;  ///< of a semaphore; of a lock 0
    bool reads = false;         ///< not the whole lock, but a reader's place
  };
  struct holder : party {
    bool foreign = false;  ///< not a lease of ours: another library has the lock, and more is not known
    /// The first that it was given. Of a lock that was handed over within its process, the lease's own may be higher by
    /// up to 63.
    std::uint64_t fence = 0;
    std::optional<std::chrono::milliseconds> left{};  ///< of its ttl, unless renewed; none: the store needs no ttl
    /// When its grant was made; of readers, when the first of those came in who have been in together since. A store
    /// that keeps no such time reads it off the fence, which is never below its clock in microseconds: so it may be a
    /// little late, if that clock was set back, and is never later than the look. None: of permits on Redis, and where
    /// the fence is not known.
    std::optional<std::chrono::system_clock::time_point> since{};
    /// Of Redlock: at how many servers more than a majority it was seen; see lease::margin(). None: one server decides.
    std::optional<std::size_t> margin{};
  };
  /// What somebody did to those who hold a name, and why.
  struct note {
    std::string reason;
    std::string by;           ///< "user@host pid N": whoever did it
    std::uint64_t fence = 0;  ///< of the lease that was meant; 0: whichever it was
    std::optional<std::chrono::system_clock::time_point> at{};
  };

  std::vector<holder> holders;  ///< most_listed at most
  std::size_t holding = 0;      ///< how many there are
  std::uint32_t permits = 0;    ///< of a semaphore: how many there are, taken or not; of a lock 0
  std::vector<party> waiters;   ///< the first of them, in order; most_waiters_listed at most
  std::size_t waiting = 0;      ///< how many there are, each process that waits for a whole lock counting once
  /// When the first of them came, by the store's clock; never later than the look. None: nobody waits.
  std::optional<std::chrono::system_clock::time_point> waiting_since{};
  /// By revoke(): one at least of those who hold it now has been asked to let go. Kept for a day at least, or as long
  /// as it is held.
  std::optional<note> asked{};
  std::optional<note> broken{};  ///< the last break_lock() of this name; kept for a day, whoever holds it since

  static constexpr std::size_t most_listed = 1'000;
  static constexpr std::size_t most_waiters_listed = 100;
};

}  // namespace holdfast
