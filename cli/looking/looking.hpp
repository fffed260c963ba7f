#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] command_spec describe_ls(const user_command& after_dashes);
[[nodiscard]] command_spec describe_show(const user_command& after_dashes);

}  // namespace holdfast::cli
