#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast config`: what is in force, and who said so. See command.hpp.
[[nodiscard]] action describe_config(CLI::App& program, const user_command&);

}  // namespace holdfast::cli
