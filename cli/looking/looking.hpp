#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] action describe_ls(CLI::App& program, const user_command& after_dashes);
[[nodiscard]] action describe_show(CLI::App& program, const user_command& after_dashes);

}  // namespace holdfast::cli
