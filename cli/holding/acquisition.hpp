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

#include "holding/options.hpp"
#include "holding/status.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// What was got: a lease, or one as the leader of an election, which is announced to all.
class tenure {
 public:
  tenure() noexcept = default;  ///< holds nothing
  explicit tenure(lease l) noexcept : plain_(std::move(l)) {}
  explicit tenure(leadership l) noexcept : leads_(std::move(l)) {}

  [[nodiscard]] const lease& as_lease() const noexcept { return leads_ ? leads_->as_lease() : plain_; }
  bool renew(std::chrono::milliseconds ttl) { return leads_ ? leads_->renew(ttl) : plain_.renew(ttl); }
  released give_back() noexcept { return leads_ ? leads_->resign() : plain_.release(); }

 private:
  lease plain_;
  std::optional<leadership> leads_;
};

/// Waits until the store does not know this process at that name any more, as a holder or in the queue; two seconds at
/// most, and for as long as the store takes to answer, or to be closed. Whoever gives up waiting leaves in the
/// background, and the end of its store would cut that short: others would still find it in the queue, if only to pass
/// it over. Throws nothing: a store that fails forgets it by itself.
void wait_until_gone_from(const store&, const std::string& name) noexcept;

/// How many wait for that name before this process, which waits under that label; nothing: the store does not know, or
/// gives no answer.
[[nodiscard]] std::optional<std::size_t> waiting_before_us(const store&, std::string_view name,
                                                           const std::string& label);

/// Remembers who holds what we want, and tells it to whoever reads.
class onlooker final : public observer {
 public:
  onlooker(const status& s, bool verbose, bool quiet = false) : status_(s), verbose_(verbose), quiet_(quiet) {}
  void on(const event&) noexcept override;
  /// Why the lock was lost; nothing: not heard of in that time. Events come a little later than what they tell:
  /// the store may have been asked who took it.
  [[nodiscard]] std::string loss(boot_clock::duration at_most = longest_doubt);
  static constexpr boot_clock::duration longest_doubt = std::chrono::milliseconds(500);
  /// Why the last renewal got no answer; nothing: it got one.
  [[nodiscard]] std::string unrenewed();
  /// Whoever runs us may hold what we wait for: to be said when we do.
  void expect_ourselves(bool yes) noexcept { nested_ = yes; }
  /// What we wait for, and who holds it as far as is known; empty: nothing was heard yet.
  struct waited_for {
    std::string name, holder;
  };
  [[nodiscard]] waited_for waits_for();
  [[nodiscard]] static std::string line(std::string_view name, std::string_view holder);
  /// After so many refusals. Events come a little later than the answers that they are about.
  [[nodiscard]] std::string holder(int refusals);
  /// The same: whether the last was none by another holder, but a limit that ended before the store had answered.
  [[nodiscard]] bool unanswered(int refusals);

 private:
  void tell_request(const event&) const;
  void tell_waiting(const event&) const;
  void note_renewals(const event&);
  const status& status_;
  const bool verbose_, quiet_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::string name_, holder_, loss_, unrenewed_;
  std::atomic<bool> nested_{false};
  int refusals_ = 0;
  bool unanswered_ = false;
};

/// Gets what the options want. Signals are heard meanwhile: those that end us make us leave the queue; so does the
/// ending, if there is one.
class acquisition {
 public:
  /// All must outlive it; the label is shown to others.
  acquisition(const hold_options&, store&, caught_signals&, const status&, onlooker&, std::string label,
              ending* until = nullptr);
  acquisition(const acquisition&) = delete;
  acquisition& operator=(const acquisition&) = delete;
  ~acquisition();  ///< closes the store: to be gone after what was had is given back

  /// Empty: see code(). Throws lock_error when the store fails.
  [[nodiscard]] std::optional<tenure> get();
  /// What to exit with when nothing was had: busy, or ended by a signal.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  using instant = boot_clock::time_point;
  [[nodiscard]] std::optional<tenure> ask_and_hear_signals();
  [[nodiscard]] std::optional<tenure> ask_as_told(instant last, const std::stop_token&);
  [[nodiscard]] std::optional<tenure> look(instant last, const std::stop_token&);
  [[nodiscard]] std::optional<tenure> ask(const limit&);
  void tell_busy();
  void say_who_holds_it();

  const hold_options& options_;
  store& store_;
  caught_signals& signals_;
  const status& status_;
  onlooker& onlooker_;
  const std::string label_;
  const lock_options how_;
  ending* const until_;
  instant say_at_ = instant::max();  // when whoever sits at the terminal is told why nothing happens
  flag waits_, answered_;
  int refusals_ = 0;
  std::optional<lock_error> refused_;  // by a store that did answer, but could not serve
  bool look_was_cut_ = false;          // our time was over before the store had answered it
  bool was_ended_ = false;             // while we waited
  int code_ = 0;
  std::jthread saying_;  // the last member: it ends before what it looks at
};

}  // namespace holdfast::cli
