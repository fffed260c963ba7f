#pragma once
#include "holdfast/limit.hpp"

namespace holdfast::net {

enum class readiness { ready, late, stopped };

/// Blocks this thread until the descriptor can be read or written, or until the limit. A descriptor with an error is
/// ready: the next read or write reports the error.
[[nodiscard]] readiness wait_readable(int fd, const limit&);
[[nodiscard]] readiness wait_writable(int fd, const limit&);

}  // namespace holdfast::net
