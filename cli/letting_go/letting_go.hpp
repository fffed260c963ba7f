#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] action describe_revoke(CLI::App& program, const user_command& after_dashes);
[[nodiscard]] action describe_break(CLI::App& program, const user_command& after_dashes);

}  // namespace holdfast::cli
