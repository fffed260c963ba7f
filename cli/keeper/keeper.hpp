#pragma once
#include <sys/types.h>

#include <optional>

#include "command.hpp"
#include "holding/options.hpp"
#include "process/process_end.hpp"

namespace holdfast::cli {

/// `holdfast acquire NAME...`: leaves a keeper behind, a process that holds the lock for another one.
struct acquire_options {
  hold_options hold{};
  std::optional<pid_t> hold_for{};  ///< whose lock it is; nothing: our parent's
  int on_lost = 0;                  ///< the signal that it gets when the lock is lost; 0: none
  bool json = false;
};

/// `holdfast release NAME`: tells a keeper to let go.
struct release_options {
  store_option store{};
  std::string name{};
  std::string owner{};
  std::uint64_t fence = 0;  ///< 0: by the owner
  bool quiet = false;
};

/// See command.hpp.
[[nodiscard]] command_spec describe_acquire(const user_command& after_dashes);
[[nodiscard]] command_spec describe_release(const user_command& after_dashes);

/// To the end; the keeper stays. Returns the exit code.
[[nodiscard]] int acquire(const acquire_options&);
/// To the end. Returns the exit code. Throws lock_error.
[[nodiscard]] int release(const release_options&);
/// The keeper, in a process of its own that nobody waits for: gets the lock, tells `caller` what happens (as status
/// does, the lines of a --status-fd), and holds it, once the caller has answered, until `whom` is gone. Returns the
/// exit code.
[[nodiscard]] int keep(const acquire_options&, process_end& whom, int caller);

}  // namespace holdfast::cli
