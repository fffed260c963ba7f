#pragma once
#include <sys/types.h>

#include <csignal>
#include <string>

#include "process/environment.hpp"

namespace holdfast::cli {

/// Starts a line by /bin/sh, in a group of its own, with nothing to read. Safe in a program that has threads. `mask` is
/// the signal mask that it shall have. Throws std::system_error.
[[nodiscard]] pid_t start_line(const std::string& line, const environment&, const sigset_t& mask);

}  // namespace holdfast::cli
