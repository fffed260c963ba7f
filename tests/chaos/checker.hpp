#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>

#include "chaos/conditions.hpp"
#include "chaos/holds.hpp"

namespace holdfast::chaos {

/// Checks a history, as it is written or later, against the eight conditions. Violations of what the topology does not
/// promise, and those of the naive lock, are only counted.
class checker {
 public:
  /// `slack` is added to the times of C4, C5 and C6, for slow machines.
  checker(const promises& p, std::int64_t slack) : promised_(p), slack_(slack), recovery_(slack) {}
  checker(const checker&) = delete;
  checker& operator=(const checker&) = delete;

  void see(const event&);
  /// Compares the holds of the last minute with each other. Everything else is checked by see().
  void look();
  /// Ends the history and compares all holds.
  void finish();

  [[nodiscard]] const violations& found() const noexcept { return found_; }
  /// True if the naive lock had two holders at once or lost an update.
  [[nodiscard]] bool naive_failed() const;
  [[nodiscard]] const std::map<std::uint32_t, hold>& holders() const noexcept { return holds_.open(); }
  [[nodiscard]] std::uint64_t grants_of(std::size_t lock) const { return by_lock_[lock]; }
  [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }
  [[nodiscard]] std::uint64_t losses_seen() const noexcept { return losses_.count(); }
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }
  /// Counts and times of the whole run.
  void figures(std::ostream&) const;

 private:
  struct comparison {
    std::uint64_t uncounted = 0;  // violations of conditions that are not promised
    std::uint64_t naive_overlaps = 0;
    std::int64_t overlap_time = 0;
    lateness hand_off, orphan;
  };
  void add(const violations&);
  [[nodiscard]] comparison compare(std::int64_t since);

  const promises promised_;
  const std::int64_t slack_;
  holds holds_{[this](const hold& h) { closed_[h.lock].push_back(h); }};
  std::array<std::vector<hold>, lock_count> closed_;
  fault_times fault_times_;
  resource_check resource_check_;
  recovery_check recovery_;
  losses losses_;
  runs runs_;
  comparison last_;
  violations found_;
  std::set<std::string> known_;  // what found_ contains
  std::map<std::string, std::uint64_t> by_fault_;
  std::array<std::uint64_t, lock_count> by_lock_{};
  std::uint64_t grants_ = 0, busy_ = 0, failed_ = 0, deaths_ = 0, faults_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace holdfast::chaos
