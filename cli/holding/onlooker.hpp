#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <holdfast/limit.hpp>
#include <holdfast/observer.hpp>
#include <mutex>
#include <string>
#include <string_view>

#include "holding/status.hpp"

namespace holdfast::cli {

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
};

}  // namespace holdfast::cli
