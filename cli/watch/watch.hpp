#pragma once
#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] action describe_watch(CLI::App& program, const user_command& after_dashes);

}  // namespace holdfast::cli
