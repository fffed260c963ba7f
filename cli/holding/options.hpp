#pragma once
#include <chrono>
#include <holdfast/limit.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/values.hpp"

namespace holdfast::cli {

/// What a command wants to hold, and how: the options that all have which hold something.
struct hold_options {
  store_option store{};
  std::vector<std::string> names{};  ///< all or none of them
  bool shared = false;               ///< as a reader
  bool leads = false;                ///< as the leader of an election, whom all can see
  struct share {
    unsigned taken = 0, all = 0;
  };
  std::optional<share> permits{};                   ///< of a semaphore; nothing: a lock
  std::optional<std::chrono::milliseconds> wait{};  ///< nothing: as long as it takes
  std::chrono::milliseconds ttl{10'000};
  std::chrono::milliseconds max_hold{0};
  std::optional<std::string> label{};  ///< nothing: host, process id and program
  int busy_code = 75;
  bool skip = false;  ///< busy is fine
  int status_fd = -1;
  bool quiet = false;
  bool json = false;  ///< events on stderr instead of words, which implies `quiet`
  bool verbose = false;

  /// The options that say what to hold: NAME..., --name, the store, readers and permits. This must outlive the parsing,
  /// as for all rows.
  [[nodiscard]] option_rows wanted_rows();
  /// The options that say how to hold it and what to report: --ttl, --label, --status-fd, -q and -v. A command that has
  /// them calls settle_ttl() after the parsing.
  [[nodiscard]] option_rows manner_rows();
  /// All of these, and how long to wait.
  [[nodiscard]] option_rows rows();
  /// --skip, for a command that does nothing without the lock. It needs rows() beside it.
  [[nodiscard]] option_spec skip_row();
  /// Sets `ttl`: --ttl, else that of the store. Warns like store_option::chosen(). Throws nothing: an error in the
  /// configuration is reported when the store is opened.
  void settle_ttl();
  /// True with -q, but not with --json: errors that are no events are still reported.
  [[nodiscard]] bool is_silent() const noexcept { return quiet && !json; }
  /// What is wrong with them together; empty: nothing.
  [[nodiscard]] std::string contradiction() const;
  /// Whether --max-hold is what ends a lease at that time, or a little later: leases end early, by a part of their ttl.
  [[nodiscard]] bool max_hold_ends(boot_clock::time_point held_since, boot_clock::time_point at) const;
  /// What was wanted, in a line: one name, or several.
  [[nodiscard]] std::string what() const;
  /// The label that was given, or who we are: host, process id and this program's base name. Others read it, in the
  /// store and while they wait: the arguments of a command may be secrets, and are left out.
  [[nodiscard]] std::string label_for(const std::string& program) const;

 private:
  std::optional<std::chrono::milliseconds> given_ttl_{};
};

}  // namespace holdfast::cli
