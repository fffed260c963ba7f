#pragma once
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "holdfast/async.hpp"
#include "holdfast/error.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"

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
  std::chrono::milliseconds patience{5'000};  ///< a store silent for so long is an error, even for lock(); 1 ms to 1 h
  unsigned burst = 16;                        ///< callers of one process served in one turn; 1: strict order
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
  /// Waits as long as it takes. Throws lock_error when the store fails.
  lease acquire(std::string_view name, const lock_options& = {});
  /// All or nothing, whatever the order; one lease for all; a name given twice counts once. (The list overload is
  /// needed: without it acquire({"a", "b"}) compiles, as the string_view from "a" to "b".)
  lease acquire(std::initializer_list<std::string_view> names, const lock_options& = {});
  lease acquire(std::span<const std::string> names, const lock_options& = {});

  /// Empty: someone else holds it, or the limit's token asked us to stop. Without a limit: one look.
  [[nodiscard]] std::optional<lease> try_acquire(std::string_view name, const lock_options& = {});
  [[nodiscard]] std::optional<lease> try_acquire(std::string_view name, const limit&, const lock_options& = {});
  /// The same without exceptions: empty with `why` set when the store failed, empty with `why` clear when busy.
  [[nodiscard]] std::optional<lease> try_acquire(std::string_view name, const limit&, const lock_options&,
                                                 std::error_code& why) noexcept;

  /// The arguments are copied before these return. An operation that was begun keeps the store alive.
  [[nodiscard]] awaitable<lease> async_acquire(std::string_view name, const lock_options& = {});
  [[nodiscard]] awaitable<std::optional<lease>> async_try_acquire(std::string_view name, const limit&,
                                                                  const lock_options& = {});
  using callback = std::function<void(std::error_code, std::optional<lease>)>;
  void async_try_acquire(std::string_view name, const limit&, const lock_options&, callback);

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
///                 redis+unix:///PATH, valkey://, valkeys://. docs/stores/redis.md has the options.
///   memory:NAME   in this process, shared by all who name it; "memory:" alone is a store of its own
///   nothing       dir:/var/tmp/holdfast-<uid>: the store of this user
[[nodiscard]] store open(std::string_view url = {}, const open_options& = {});

}  // namespace holdfast
