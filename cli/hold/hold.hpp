#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast hold NAME...`: holds until stdin ends or a signal comes, and tells what happens on stdout. For a script of
/// any language that wants a lock beside it. See command.hpp.
[[nodiscard]] command_spec describe_hold(const user_command& after_dashes);

}  // namespace holdfast::cli
