#pragma once
#include <cstddef>
#include <optional>

namespace holdfast::cli {

struct window {
  std::size_t columns = 80, rows = 24;
};

/// The size of a terminal, as it is now; what it does not know is as above. Nothing: it is none.
[[nodiscard]] std::optional<window> window_of(int fd) noexcept;

}  // namespace holdfast::cli
