#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast config`: what is in force, and who said so. See command.hpp.
[[nodiscard]] command_spec describe_config(const user_command&);

}  // namespace holdfast::cli
