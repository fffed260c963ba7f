#pragma once
#include <sys/types.h>

namespace holdfast::cli {

/// The process is as good as certainly a fork of its parent, and no program of its own, such as the subshell that a
/// shell makes for $(a || b): it may be gone long before the script is.
[[nodiscard]] bool is_subshell(pid_t);

}  // namespace holdfast::cli
