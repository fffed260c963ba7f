#pragma once
#include <sys/types.h>

#include <vector>

namespace holdfast::cli {

/// Those of the thread that forks, which is the first one; the ended ones that nobody has waited for included. Throws
/// std::system_error: the kernel does not tell, which is not to be taken for "none".
[[nodiscard]] std::vector<pid_t> children_of_this_process();

}  // namespace holdfast::cli
