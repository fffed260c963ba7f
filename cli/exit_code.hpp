#pragma once
#include <holdfast/error.hpp>

#include "command.hpp"

namespace holdfast::cli {

/// What the program says when it does not repeat what its command said (0 to 255, or 128 and the signal).
enum exit_code : int {
  fine = 0,
  usage = 64,
  unreachable = 69,  ///< the store gave no answer before the lock was had
  internal = 70,
  busy = 75,  ///< somebody else holds it, or the time to wait was over
  denied = 77,
  configuration = 78,
  lost = 79,       ///< the lock was lost, and the command was stopped
  uncertain = 80,  ///< the command ended, but the lock was not certain to be ours to the end
  not_executable = 126,
  not_found = 127,
  by_signal = 128,  ///< and the signal's number
};

inline int code_of(const lock_error& e) {
  if (e.code() == errc::unreachable || e.code() == errc::not_ready) return unreachable;
  if (e.code() == errc::denied) return denied;
  if (e.code() == errc::bad_name || e.code() == errc::bad_option) return usage;
  if (e.code() == errc::bad_url || e.code() == errc::unsupported || e.code() == errc::foreign) return configuration;
  return internal;
}

/// Does it, to the end. Returns its exit code; or that of what it throws, which is said on stderr unless `quiet`.
[[nodiscard]] int carry_out(const action& does, bool quiet = false);

}  // namespace holdfast::cli
