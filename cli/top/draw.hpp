#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "process/window.hpp"
#include "text/style.hpp"
#include "top/model.hpp"

namespace holdfast::cli {

/// The screen: a line for each row of the window, none wider than it. Knows no terminal.
[[nodiscard]] std::vector<std::string> draw(const top_model&, const window&, const style&,
                                            std::chrono::system_clock::time_point now);
/// How many names are seen at once in a window of that size.
[[nodiscard]] std::size_t names_in(const window&) noexcept;

}  // namespace holdfast::cli
