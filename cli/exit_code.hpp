#pragma once
#include <holdfast/error.hpp>

#include "command.hpp"

namespace holdfast::cli {

/// The exit codes of the program itself. If it ran a command, it normally exits with the command's code (0 to 255, or
/// 128 plus the signal).
enum exit_code : int {
  fine = 0,
  usage = 64,
  unreachable = 69,  ///< the store did not answer before the lock was acquired
  internal = 70,
  busy = 75,  ///< another client holds the lock, or the wait timed out
  denied = 77,
  configuration = 78,
  lost = 79,       ///< the lock was lost, and the command was stopped
  uncertain = 80,  ///< the command ended, but the lock may have been lost before that
  not_executable = 126,
  not_found = 127,
  by_signal = 128,  ///< plus the signal number
};

inline int code_of(const lock_error& e) {
  if (e.code() == errc::unreachable || e.code() == errc::not_ready) return unreachable;
  if (e.code() == errc::denied) return denied;
  if (e.code() == errc::bad_name || e.code() == errc::bad_option) return usage;
  if (e.code() == errc::bad_url || e.code() == errc::unsupported || e.code() == errc::foreign) return configuration;
  return internal;
}

/// Runs the action and returns its exit code. An exception is printed on stderr unless `quiet`, and becomes an exit
/// code.
[[nodiscard]] int run_action(const action& does, bool quiet = false);

}  // namespace holdfast::cli
