#pragma once
#include <holdfast/lease.hpp>
#include <string>

#include "holding/onlooker.hpp"
#include "run/run.hpp"
#include "run/stopping.hpp"

namespace holdfast::cli {

/// When the command has to stop for its lock's sake, and why.
class deadline {
 public:
  using instant = boot_clock::time_point;
  static constexpr instant never = instant::max();

  /// Of a lock that was taken just now. All must outlive it.
  deadline(const run_options&, const lease&, onlooker&);

  enum class distance {
    far,
    near,  ///< the command has to be asked now
    over,  ///< the lock is lost
  };
  [[nodiscard]] distance look() const;
  /// Of one that is far: when it will be near.
  [[nodiscard]] instant near_at() const;
  /// When a command that is asked now is killed.
  [[nodiscard]] instant kill_at(distance) const;
  /// When what the command has left behind is killed.
  [[nodiscard]] instant kill_leftovers_at() const;

  struct reason {
    bool max_hold;
    std::string words;
  };
  [[nodiscard]] reason why(distance, boot_clock::duration at_most) const;
  [[nodiscard]] instant held_since() const noexcept { return held_since_; }

 private:
  const run_options& options_;
  const lease& lease_;
  onlooker& onlooker_;
  const stopping before_;
  const instant held_since_ = boot_clock::now();
};

}  // namespace holdfast::cli
