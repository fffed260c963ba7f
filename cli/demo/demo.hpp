#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// `holdfast demo`: the ticket office in four acts, on this store, or on a temporary directory if empty. Returns 0 if
/// every claim held. Throws lock_error.
[[nodiscard]] int demo(const std::string& store);
/// `holdfast demo --keep`: runs the ticket office until a signal arrives, so that the user can look at its locks.
/// Returns 128 plus the signal. Throws lock_error.
[[nodiscard]] int keep_demo_open(const std::string& store);
/// See command.hpp.
[[nodiscard]] command_spec describe_demo(const user_command&);

}  // namespace holdfast::cli
