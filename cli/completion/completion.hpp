#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast complete -- WORD...`, which the shells call when Tab is pressed: how the last word may go on after the
/// others. One candidate a line, and behind a tab what it is. The answer comes from the description that the arguments
/// are parsed with, so it cannot be out of date. See command.hpp.
[[nodiscard]] command_spec describe_completion(const program_spec&, const user_command& after_dashes);

}  // namespace holdfast::cli
