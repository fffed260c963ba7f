#pragma once
#include <string>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"

namespace holdfast::cli {

/// Reads the arguments up to "--" into the targets of their command. The returned action is that of the command and
/// refers to the program_spec. Errors say what is wrong and how to fix it, and contain nothing that may be a secret.
/// Throws only std::bad_alloc.
[[nodiscard]] parsed_arguments parse(const program_spec&, const std::vector<std::string>& arguments);

}  // namespace holdfast::cli
