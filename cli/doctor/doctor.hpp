#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast doctor`: what is unsafe about a store, and how to fix it. See command.hpp.
[[nodiscard]] command_spec describe_doctor(const user_command&);

}  // namespace holdfast::cli
