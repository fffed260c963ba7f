#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "holdfast/async.hpp"
#include "holdfast/error.hpp"
#include "holdfast/finding.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/listing.hpp"
#include "holdfast/names.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"
#include "holdfast/state.hpp"

namespace holdfast {

/// What a store promises, in the words of docs/safety.md.
struct guarantees {
  enum class exclusion {
    lease,   ///< by deadlines: good as long as clocks run at about the same rate and the store keeps its state
    kernel,  ///< by the kernel: good for as long as the holder lives
  };
  exclusion by;                ///< what keeps two holders apart
  bool fair;                   ///< first come, first served among processes
  bool survives_restart;       ///< locks and fences outlive a restart of the store
  bool notices_death_at_once;  ///< a crashed holder is noticed at once, not after its ttl
};

struct open_options {
  /// If the store does not answer for this long, calls fail with unreachable, also lock(). 1 ms to 1 h.
  std::chrono::milliseconds patience{5'000};
  unsigned burst = 16;  ///< callers of one process served in one turn; 1: strict order
  std::shared_ptr<observer> observe{};
  /// Where callbacks and resumed coroutines run; empty: the store's own notifier thread. Called on library threads;
  /// must not run the function in place, and must outlive the store and the async calls begun on it, cancelled ones
  /// too. What it refuses, by throwing, is dropped: of a loss only held() tells then.
  std::function<void(std::function<void()>)> executor{};
};

/// A handle to a lock service. Copies share it; the last one to go, leases and mutexes included, closes it and waits
/// for user code that runs on its notifier (unless it goes there). All members may be called from any thread.
class store {
 public:
  store(const store&) noexcept = default;  // and no moves: a handle is never empty
  store& operator=(const store&) noexcept = default;
  ~store() = default;

  /// Waits as long as it takes. Throws lock_error when the store fails.
  ///
  /// Several names, `acquire({"a", "b"})`, 256 at most: all or nothing, as one lease. The loss of one is the loss of
  /// all; no two such calls wait for each other, whatever the order; a name given twice counts once.
  lease acquire(const names&, const lock_options& = {});

  /// Returns an empty optional if the lock was not acquired within the limit, for whatever reason: another client holds
  /// it, the store has not answered yet, or the limit's token was stopped. Without a limit: as with within(0s). Throws
  /// lock_error when the store fails; see limit.
  [[nodiscard]] std::optional<lease> try_acquire(const names&, const lock_options& = {});
  [[nodiscard]] std::optional<lease> try_acquire(const names&, const limit&, const lock_options& = {});
  /// The same, but reports errors through `why` instead of throwing: `why` is clear if the lock was not acquired, and
  /// set if the store failed.
  [[nodiscard]] std::optional<lease> try_acquire(const names&, const limit&, const lock_options&,
                                                 std::error_code& why) noexcept;

  /// The arguments are copied before these return. An operation that was begun keeps the store alive.
  [[nodiscard]] awaitable<lease> async_acquire(const names&, const lock_options& = {});
  [[nodiscard]] awaitable<std::optional<lease>> async_try_acquire(const names&, const limit&, const lock_options& = {});
  using callback = std::function<void(std::error_code, std::optional<lease>)>;
  void async_try_acquire(const names&, const limit&, const lock_options&, callback);

  /// Who holds a name, and who waits for it. Takes and changes nothing. Throws lock_error when the store fails, or
  /// gives no answer before the limit ends; one that is over already, or none, leaves it the store's patience.
  [[nodiscard]] state inspect(std::string_view name) const;
  [[nodiscard]] state inspect(std::string_view name, const limit&) const;
  /// Asks whoever holds a name to let go, all of them if they are several: lease::revoke_requested() stops there. They
  /// decide; nothing is taken from them. False: nobody holds it. With a fence, only the lease that has it is asked.
  /// Throws lock_error when the store fails, or the reason has more than 256 bytes.
  bool revoke(std::string_view name, std::string_view reason = {}, std::uint64_t fence = 0) const;

  /// The names that are held or waited for now and begin so, with each its state: one page. `after` is empty for the
  /// first, then what the page before said. A name that changes while it is listed may come twice, or be missed; one
  /// that is held all the time is not missed. Changes nothing. Throws lock_error when the store fails, or cannot read
  /// `after`.
  [[nodiscard]] listing list(std::string_view prefix = {}, std::string_view after = {}) const;
  /// Takes the name by force from whoever holds it with that fence, as inspect() shows it, or any of its block; nobody
  /// is asked. UNSAFE without fences: the old holder may go on for a while, and works at the same time as the next.
  /// Only a resource that refuses lower fences (see fence_gate) keeps it out; else end its process first.
  ///
  /// The next in line get it at once, with a higher fence, whatever the lock delay of the old holder: it is taken on
  /// purpose. That one's lease is lost when it hears of it: by a message, at its next renewal, or at its end. Of
  /// readers all lose it who have that fence, or with an owner (as lease::owner()) that one alone. Permits are taken by
  /// their owner, and their fence is not looked at. A fence of 0 needs an owner, and is any.
  ///
  /// False: nobody holds it with that fence, or not any more. What was done is kept for a day, in state::broken. Throws
  /// lock_error when the store fails; errc::foreign when another library holds it, which is left alone; and bad_option
  /// for a reason of more than 256 bytes, for an owner that is none, and for neither fence nor owner.
  bool break_lock(std::string_view name, std::uint64_t fence, std::string_view reason,
                  std::string_view owner = {}) const;
  /// What is unsafe about the store as it is set up now, and how to mend it; what is fine comes first, the worst last.
  /// Takes and changes no lock. Blocks for about a second: clocks are watched for so long. Throws lock_error when the
  /// store fails.
  [[nodiscard]] std::vector<finding> examine() const;

  /// Wakes every waiter with errc::closed and refuses new ones. Leases in hand stay valid and can be released.
  void close() noexcept;
  [[nodiscard]] guarantees promises() const noexcept;
  [[nodiscard]] const std::string& url() const noexcept;  ///< without the password, if it has one

 private:
  friend class detail::service;
  explicit store(std::shared_ptr<detail::service>) noexcept;
  std::shared_ptr<detail::service> service_;
};

/// Opens a store by its URL. Throws lock_error.
///   dir:/PATH     a directory of this machine, shared by all processes that name it
///   redis://[user:password@]host[:port][/database][?options]
///                 a Redis or Valkey server, shared by all machines that reach it; rediss:// with TLS,
///                 redis+unix:///PATH, valkey://, valkeys://; redis+sentinel://HOST,HOST,HOST/SERVICE finds the
///                 primary by its sentinels; redis+cluster://HOST,HOST,HOST is a cluster. docs/stores/redis.md has the
///                 options.
///   redlock://[user:password@]host[:port],host[:port],host[:port][/database][?options]
///                 independent Redis servers, of which a majority decides; redlocks://,
///                 redlock+unix:///PATH,/PATH,/PATH
///   memory:NAME   in this process, shared by all who name it; "memory:" alone is a store of its own
///   nothing       dir:/var/tmp/holdfast-<uid>: the store of this user
[[nodiscard]] store open(std::string_view url = {}, const open_options& = {});
/// The URL that open() would use, as others may see it: without the password. Looks at nothing but the text. Of one
/// that no store knows only the scheme is left.
[[nodiscard]] std::string shown_url(std::string_view url = {});

}  // namespace holdfast
