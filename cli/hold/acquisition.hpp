#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <holdfast/election.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/limit.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/store.hpp>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "hold/options.hpp"
#include "hold/status.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// What was acquired: a lease, or the leadership of an election.
class held_lock {
 public:
  held_lock() noexcept = default;  ///< holds nothing
  explicit held_lock(lease l) noexcept : plain_(std::move(l)) {}
  explicit held_lock(leadership l) noexcept : leads_(std::move(l)) {}

  [[nodiscard]] const lease& as_lease() const noexcept { return leads_ ? leads_->as_lease() : plain_; }
  bool renew(std::chrono::milliseconds ttl) { return leads_ ? leads_->renew(ttl) : plain_.renew(ttl); }
  released release() noexcept { return leads_ ? leads_->resign() : plain_.release(); }

 private:
  lease plain_;
  std::optional<leadership> leads_;
};

/// Waits until the store no longer lists this process as a holder or waiter of the name, for at most two seconds plus
/// the time of one request. A cancelled wait leaves the queue in the background; closing the store at once would cut
/// that short and leave a stale queue entry behind. Ignores errors: the store drops the entry when its ttl ends.
void wait_until_forgotten(const store&, const std::string& name) noexcept;

/// Returns how many waiters are queued before this process, which waits under `label`. Empty if the store does not know
/// or does not answer.
[[nodiscard]] std::optional<std::size_t> queue_position(const store&, std::string_view name, const std::string& label);

/// Remembers what the events say about the current holder and the loss, and reports events to the user.
class event_recorder final : public observer {
 public:
  event_recorder(const status& s, bool verbose, bool quiet = false) : status_(s), verbose_(verbose), quiet_(quiet) {}
  void on(const event&) noexcept override;
  /// Returns why the lock was lost; empty if no such event arrived within `at_most`. The event is later than the loss
  /// itself because the store may be asked who took the lock.
  [[nodiscard]] std::string loss(boot_clock::duration at_most = longest_doubt);
  static constexpr boot_clock::duration longest_doubt = std::chrono::milliseconds(500);
  /// Returns why the last renewal failed; empty if it succeeded.
  [[nodiscard]] std::string unrenewed();
  /// Set when the process that started us may hold the lock that we wait for. The user is warned about it.
  void set_nested(bool yes) noexcept { nested_ = yes; }
  /// The name that we wait for and its holder, as far as known. Empty before the first event.
  struct wait_target {
    std::string name, holder;
  };
  [[nodiscard]] wait_target waited_for();
  [[nodiscard]] static std::string line(std::string_view name, std::string_view holder);
  /// Returns the holder after this many refusals. Waits briefly, since events arrive after the answers.
  [[nodiscard]] std::string holder(int refusals);
  /// Returns whether the last refusal was a timeout without an answer instead of another holder. Waits like holder().
  [[nodiscard]] bool unanswered(int refusals);

 private:
  void report_revoke_request(const event&) const;
  void report_waiting(const event&) const;
  void record_renewals(const event&);
  const status& status_;
  const bool verbose_, quiet_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string name_, holder_, loss_, unrenewed_;
  std::atomic<bool> nested_{false};
  int refusals_ = 0;
  bool unanswered_ = false;
};

/// Acquires what the options ask for, while handling signals: a terminating signal makes it leave the queue, and so
/// does the end condition, if there is one.
class acquisition {
 public:
  /// All arguments must outlive it. The label is shown to other clients.
  acquisition(const hold_options&, store&, caught_signals&, const status&, event_recorder&, std::string label,
              end_condition* until = nullptr);
  acquisition(const acquisition&) = delete;
  acquisition& operator=(const acquisition&) = delete;
  ~acquisition();  ///< closes the store, so it must be destroyed after the lock is released

  /// Returns nothing if the lock was not acquired; see code(). Throws lock_error if the store fails.
  [[nodiscard]] std::optional<held_lock> get();
  /// The exit code if nothing was acquired: busy, or terminated by a signal.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  using instant = boot_clock::time_point;
  [[nodiscard]] std::optional<held_lock> acquire_interruptibly();
  [[nodiscard]] std::optional<held_lock> try_then_wait(instant last, const std::stop_token&);
  [[nodiscard]] std::optional<held_lock> try_once(instant last, const std::stop_token&);
  [[nodiscard]] std::optional<held_lock> request(const limit&);
  void report_busy();
  void print_holder();

  const hold_options& options_;
  store& store_;
  caught_signals& signals_;
  const status& status_;
  event_recorder& recorder_;
  const std::string label_;
  const lock_options how_;
  end_condition* const until_;
  instant print_at_ = instant::max();  // when to print on a terminal who holds the lock
  flag waits_, answered_;
  int refusals_ = 0;
  std::optional<lock_error> refused_;  // the store answered that it is not ready
  bool try_timed_out_ = false;         // our timeout ended before the first answer
  bool was_ended_ = false;             // the end condition stopped the wait
  int code_ = 0;
  std::jthread printing_;  // last: joins before the members that it uses go
};

}  // namespace holdfast::cli
