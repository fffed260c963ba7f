#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// `holdfast demo`: the ticket office, in four acts, on that store; empty: on a directory of its own. Returns the exit
/// code: 0 if every claim held. Throws lock_error.
[[nodiscard]] int demo(const std::string& store);
/// `holdfast demo --keep`: the office stays open, for the user to look at its locks, until a signal comes. Returns the
/// exit code: 128 and the signal. Throws lock_error.
[[nodiscard]] int keep_demo_open(const std::string& store);
/// See command.hpp.
[[nodiscard]] command_spec describe_demo(const user_command&);

}  // namespace holdfast::cli
