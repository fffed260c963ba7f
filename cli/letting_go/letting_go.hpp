#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] command_spec describe_revoke(const user_command& after_dashes);
[[nodiscard]] command_spec describe_break(const user_command& after_dashes);

}  // namespace holdfast::cli
