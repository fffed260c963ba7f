#pragma once
#include <chrono>
#include <holdfast/limit.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/values.hpp"

namespace holdfast::cli {

/// What to lock and how: the options shared by all commands that hold a lock.
struct hold_options {
  store_option store{};
  std::vector<std::string> names{};  ///< acquired together, all or none
  bool shared = false;               ///< acquire as a reader
  bool leads = false;                ///< acquire as the leader of an election
  struct share {
    unsigned taken = 0, all = 0;
  };
  std::optional<share> permits{};                   ///< of a semaphore; empty: a lock
  std::optional<std::chrono::milliseconds> wait{};  ///< empty: no limit
  std::chrono::milliseconds ttl{10'000};
  std::chrono::milliseconds max_hold{0};
  std::optional<std::string> label{};  ///< empty: host, process id and program
  int busy_code = 75;
  bool skip = false;  ///< exit with 0 if the lock is busy
  int status_fd = -1;
  bool quiet = false;
  bool json = false;  ///< events on stderr instead of messages; implies `quiet`
  bool verbose = false;

  /// The options that say what to lock: NAME..., --name, the store, readers and permits. This must outlive the parsing,
  /// as for all rows.
  [[nodiscard]] option_rows target_rows();
  /// The options for how to hold the lock and what to report: --ttl, --label, --status-fd, -q and -v. Commands with
  /// these rows call resolve_ttl() after parsing.
  [[nodiscard]] option_rows lease_rows();
  /// target_rows(), lease_rows() and the options for waiting.
  [[nodiscard]] option_rows rows();
  /// --skip, for a command that does nothing without the lock. Requires rows().
  [[nodiscard]] option_spec skip_row();
  /// Sets `ttl` from --ttl or the configured store. Prints the warnings of store_option::chosen(). Does not throw: an
  /// error in the configuration is reported when the store is opened.
  void resolve_ttl();
  /// True for -q but not for --json: errors that are not events are still printed.
  [[nodiscard]] bool is_silent() const noexcept { return quiet && !json; }
  /// Returns why the options cannot be combined; empty if they can.
  [[nodiscard]] std::string contradiction() const;
  /// Returns whether the lease ended because of --max-hold. Leases end early, by a fraction of their ttl.
  [[nodiscard]] bool max_hold_ends(boot_clock::time_point held_since, boot_clock::time_point at) const;
  /// The names in one line.
  [[nodiscard]] std::string what() const;
  /// Returns --label, or host, process id and the program's base name. Other clients see it, so the arguments of the
  /// command, which may be secrets, are left out.
  [[nodiscard]] std::string label_for(const std::string& program) const;

 private:
  std::optional<std::chrono::milliseconds> given_ttl_{};
};

}  // namespace holdfast::cli
