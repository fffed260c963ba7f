#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// The help of the program: examples, and the commands by group. Fits on one screen.
[[nodiscard]] std::string help_text(const program_spec&);
/// The help of a command in 80 columns: examples, description, usage, options and exit codes.
[[nodiscard]] std::string help_text(const program_spec&, const command_spec&);

}  // namespace holdfast::cli
