#pragma once
#include <string>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"

namespace holdfast::cli {

/// Reads the arguments, without a user_command, into the targets of the command that they name. The action of the
/// result is that of the command, and is valid as long as the program is. Errors say what is wrong and what would be
/// right, and repeat nothing that may be a secret. Throws nothing but std::bad_alloc.
[[nodiscard]] reading parse(const program_spec&, const std::vector<std::string>& arguments);

}  // namespace holdfast::cli
