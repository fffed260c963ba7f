#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <holdfast/observer.hpp>
#include <mutex>
#include <string>
#include <string_view>

#include "status.hpp"

namespace holdfast::cli {

/// Remembers who holds what we want, and tells it to whoever reads.
class onlooker final : public observer {
 public:
  onlooker(const status& s, bool verbose) : status_(s), verbose_(verbose) {}
  void on(const event&) noexcept override;
  /// What the store said when it failed.
  [[nodiscard]] std::string trouble();
  /// Why the lock was lost; nothing: not heard of within that time. Events come a little later than what they tell.
  [[nodiscard]] std::string loss(std::chrono::milliseconds within);
  /// Why the last renewal got no answer; nothing: it got one.
  [[nodiscard]] std::string unrenewed();
  /// Whoever runs us may hold what we wait for: to be said when we do.
  void expect_ourselves(bool yes) noexcept { nested_ = yes; }
  /// After so many refusals. Events come a little later than the answers that they are about.
  [[nodiscard]] std::string busy_line(std::string_view name, int refusals);

 private:
  void note_renewals(const event&);
  const status& status_;
  const bool verbose_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::string holder_, trouble_, loss_, unrenewed_;
  std::atomic<bool> nested_{false};
  int refusals_ = 0;
};

}  // namespace holdfast::cli
