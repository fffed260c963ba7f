#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast complete -- WORD...`, called by the shells when Tab is pressed: prints the completions of the last word,
/// each with a tab and a description. Uses the same description as the parser, so it is always up to date. See
/// command.hpp.
[[nodiscard]] command_spec describe_completion(const program_spec&, const user_command& after_dashes);

}  // namespace holdfast::cli
