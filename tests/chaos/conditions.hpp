#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/holds.hpp"
#include "chaos/locks.hpp"

/// The eight conditions. Times are reported as figures and are a violation only beyond `slack`, so that a slow machine
/// fails no condition.
namespace holdfast::chaos {

struct violation {
  int condition;  ///< 1 to 8
  std::int64_t at;
  std::string what;
};
using violations = std::vector<violation>;

/// A fault may have effects for this long after its end.
inline constexpr std::chrono::seconds settling{1};

/// What a topology promises. Violations of other conditions are only counted.
struct promises {
  bool exclusion = true;    ///< no two holders at once before their deadlines
  bool fences_grow = true;  ///< a caller that asks after a grant gets a higher fence
};

/// When faults were active, except those that affect only the naive lock. No fault lasts for a minute.
class fault_times {
 public:
  void see(const event&);
  /// True if no fault was active in this time or shortly before it.
  [[nodiscard]] bool fault_free(std::int64_t from, std::int64_t to) const;

 private:
  struct span {
    std::int64_t from, to;
  };
  std::map<std::int64_t, std::size_t> running_;  // by fault: its index in spans_
  std::vector<span> spans_;
};

/// Times from one event to another, in ns.
struct lateness {
  std::vector<std::int64_t> all;
  [[nodiscard]] std::int64_t at(double quantile) const;
};

/// C1. Fences grow in the order of grants: a call that starts after a grant gets a higher fence, and where two holders
/// never overlap, so does the later one. `of_one_lock` is in order of `granted`.
[[nodiscard]] violations fences_out_of_order(const std::vector<hold>& of_one_lock, bool exclusion);

/// C2. The resource that checks fences admits no fence lower than an earlier one, and loses no update.
class resource_check {
 public:
  [[nodiscard]] violations see(const event&);
  /// At the resource that does not check fences.
  [[nodiscard]] std::uint64_t lost_unfenced(std::size_t lock) const { return unfenced_[lock].lost; }
  [[nodiscard]] std::uint64_t updates() const noexcept { return updates_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

 private:
  struct counter {
    std::int64_t value = 0;
    std::uint64_t top = 0, lost = 0;
  };
  std::array<counter, lock_count> fenced_{}, unfenced_{};
  std::uint64_t updates_ = 0, refused_ = 0;
};

/// C3. No two parties held an exclusive lock at once, no writer together with a reader, and not more permits than
/// exist. A hold lasts from `granted` to its release or deadline. `of_one_lock` is in order of `granted`. `time` is
/// increased by the length of the overlaps.
[[nodiscard]] violations overlaps(const std::vector<hold>& of_one_lock, std::int64_t& time);

/// C4. The time from a release to a waiter's grant, while no fault is active.
[[nodiscard]] violations late_hand_offs(const std::vector<hold>& of_one_lock, const fault_times&, std::int64_t slack,
                                        lateness&);

/// C5. The time from the end of a dead holder's ttl to a waiter's grant, while no fault is active.
[[nodiscard]] violations late_orphans(const std::vector<hold>& of_one_lock, const fault_times&, std::int64_t slack,
                                      lateness&);

/// C6. After the faults, each call with enough time gets its lock, every lock can be acquired, no keys remain, all
/// processes exit normally, and none has many more open files and threads than before its first lock.
class recovery_check {
 public:
  explicit recovery_check(std::int64_t slack) : slack_(slack) {}
  [[nodiscard]] violations see(const event&);

 private:
  const std::int64_t slack_;
  std::optional<std::int64_t> healed_;
  std::map<std::uint32_t, event> calls_;  // by party
  std::map<std::uint32_t, event> stock_;  // the first event of each process
};

/// C7. held() is false after the deadline and after a loss, each loss is reported, and release() does not return yes
/// for a lost lease.
class losses {
 public:
  [[nodiscard]] violations see(const event&);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const lateness& told() const noexcept { return told_; }

 private:
  std::map<std::uint32_t, bool> over_;  // by party: whether its lease was found to have ended
  std::uint64_t count_ = 0;
  lateness told_;
};

/// C8. The exit code of the program matches what happened to its command.
class runs {
 public:
  [[nodiscard]] violations see(const event&);
  /// Checks the runs that have ended, at the end of the history.
  [[nodiscard]] violations finish() const;
  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }

 private:
  struct run {
    int began = 0;
    std::optional<std::int64_t> command, program;  // exit codes
    std::int64_t at = 0;
  };
  std::map<std::int64_t, run> all_;
};

}  // namespace holdfast::chaos
