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

/// Reads a history as it happens, and says which of the eight conditions it breaks. What the topology does not promise,
/// and what the naive lock does, is counted and not held against it.
class checker {
 public:
  /// `slack`: what a slow machine is forgiven in C4, C5 and C6.
  checker(const promises& p, std::int64_t slack) : promised_(p), slack_(slack), aftermath_(slack) {}
  checker(const checker&) = delete;
  checker& operator=(const checker&) = delete;

  void see(const event&);
  /// Compares the holds of the last minute with one another; the rest is looked at as it comes.
  void look();
  /// There is no more: compares all of them.
  void finish();

  [[nodiscard]] const violations& found() const noexcept { return found_; }
  /// The naive lock was seen to let two in, or to lose an update.
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
    std::uint64_t uncounted = 0;  // violations of what is not promised
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
  weather weather_;
  ledger ledger_;
  aftermath aftermath_;
  losses losses_;
  runs runs_;
  comparison last_;
  violations found_;
  std::set<std::string> known_;  // those that were found
  std::map<std::string, std::uint64_t> by_fault_;
  std::array<std::uint64_t, lock_count> by_lock_{};
  std::uint64_t grants_ = 0, busy_ = 0, failed_ = 0, deaths_ = 0, faults_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace holdfast::chaos
