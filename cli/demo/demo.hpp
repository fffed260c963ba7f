#pragma once

namespace holdfast::cli {

/// `holdfast demo`: the ticket office, in four acts. Returns the exit code: 0 if every claim held.
[[nodiscard]] int demo();

}  // namespace holdfast::cli
