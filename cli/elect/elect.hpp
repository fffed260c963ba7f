#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast elect NAME -- CMD...`: campaigns repeatedly and runs the command while leading. See command.hpp.
[[nodiscard]] command_spec describe_elect(const user_command& after_dashes);

}  // namespace holdfast::cli
