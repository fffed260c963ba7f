#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// The help of the program: examples and the commands by their groups. It fits on a screen.
[[nodiscard]] std::string help_text(const program_spec&);
/// The help of a command: examples, description, usage, options and exit codes, in 80 columns.
[[nodiscard]] std::string help_text(const program_spec&, const command_spec&);

}  // namespace holdfast::cli
