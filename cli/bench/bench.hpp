#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// `holdfast bench [WHAT...]`: measures what locks cost on the user's store. See command.hpp.
[[nodiscard]] command_spec describe_bench(const user_command&);

}  // namespace holdfast::cli
