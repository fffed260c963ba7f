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

/// The eight conditions, each by itself. None asks for a time that the machine could fail to give: where a time is a
/// part of the condition it is a figure, and a violation only beyond `slack`.
namespace holdfast::chaos {

struct violation {
  int condition;  ///< of the eight
  std::int64_t at;
  std::string what;
};
using violations = std::vector<violation>;

/// A fault is felt for so long after its end.
inline constexpr std::chrono::seconds settling{1};

/// What a topology promises. What it does not promise is counted.
struct promises {
  bool exclusion = true;    ///< no two at once, each before its deadline
  bool fences_grow = true;  ///< who asks after another has it gets a higher fence
};

/// When faults were at work, but those that only the naive lock feels. None lasts for a minute.
class weather {
 public:
  void see(const event&);
  /// Nothing was wrong, nor had been just before.
  [[nodiscard]] bool calm(std::int64_t from, std::int64_t to) const;

 private:
  struct spell {
    std::int64_t from, to;
  };
  std::map<std::int64_t, std::size_t> running_;  // fault -> its spell
  std::vector<spell> spells_;
};

/// Times from one event to another, in ns.
struct lateness {
  std::vector<std::int64_t> all;
  [[nodiscard]] std::int64_t at(double quantile) const;
};

/// C1. The order of fences is the order of grants: by who had it before another asked for it, and, where two never hold
/// at once, by who held it first. `of_one_lock` is in order of `granted`.
[[nodiscard]] violations fences_out_of_order(const std::vector<hold>& of_one_lock, bool exclusion);

/// C2. At the resource that checks fences none is admitted that is lower than one before, and no update is lost.
class ledger {
 public:
  [[nodiscard]] violations see(const event&);
  /// At the resource that does not check.
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

/// C3. Times in which two believed that they hold what one can hold: [granted, released or deadline]; nor a writer and
/// a reader, nor more permits than there are. `of_one_lock` is in order of `granted`. `time` gets how long they did.
[[nodiscard]] violations overlaps(const std::vector<hold>& of_one_lock, std::int64_t& time);

/// C4. From a release to the grant of one who was waiting, in calm weather.
[[nodiscard]] violations late_hand_offs(const std::vector<hold>& of_one_lock, const weather&, std::int64_t slack,
                                        lateness&);

/// C5. From the end of a dead holder's ttl to the grant of one who was waiting, in calm weather.
[[nodiscard]] violations late_orphans(const std::vector<hold>& of_one_lock, const weather&, std::int64_t slack,
                                      lateness&);

/// C6. When the faults are over: who asks with time enough gets the lock, every lock can be had, nothing is left
/// behind, all processes end by themselves, and none has many more open files and threads than before its first lock.
class aftermath {
 public:
  explicit aftermath(std::int64_t slack) : slack_(slack) {}
  [[nodiscard]] violations see(const event&);

 private:
  const std::int64_t slack_;
  std::optional<std::int64_t> healed_;
  std::map<std::uint32_t, event> calls_;  // by party
  std::map<std::uint32_t, event> stock_;  // the first, by process
};

/// C7. Nobody believes beyond the deadline, nor again after a loss; each loss is told, and no release takes a loss for
/// a yes.
class losses {
 public:
  [[nodiscard]] violations see(const event&);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const lateness& told() const noexcept { return told_; }

 private:
  std::map<std::uint32_t, bool> over_;  // by party: its lease was found to be over
  std::uint64_t count_ = 0;
  lateness told_;
};

/// C8. What the program's exit code says of a run is what its command saw.
class runs {
 public:
  [[nodiscard]] violations see(const event&);
  /// All is known: judges those that have ended.
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
