#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] command_spec describe_watch(const user_command& after_dashes);

}  // namespace holdfast::cli
