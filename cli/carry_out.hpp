#pragma once
#include "command.hpp"

namespace holdfast::cli {

/// Does it, to the end. Returns its exit code; or that of what it throws, which is said on stderr unless `quiet`.
[[nodiscard]] int carry_out(const action& does, bool quiet = false);

}  // namespace holdfast::cli
