#pragma once
#include "holdfast/limit.hpp"

namespace holdfast::net {

enum class readiness { ready, late, stopped };

/// Waits, on this thread, until the descriptor can be read or written, or for the limit. An error on it is "ready":
/// whoever reads or writes next sees it.
[[nodiscard]] readiness wait_readable(int fd, const limit&);
[[nodiscard]] readiness wait_writable(int fd, const limit&);

}  // namespace holdfast::net
