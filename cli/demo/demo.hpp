#pragma once
#include <string>

namespace holdfast::cli {

/// `holdfast demo`: the ticket office, in four acts, on that store; empty: on a directory of its own. Returns the exit
/// code: 0 if every claim held. Throws lock_error.
[[nodiscard]] int demo(const std::string& store);

}  // namespace holdfast::cli
