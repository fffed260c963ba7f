#pragma once
#include <string>
#include <string_view>

namespace holdfast::cli {

/// What others wrote (names, labels, reasons), fit for a terminal and for one line: control characters, those that turn
/// the direction of writing or are not seen, and bytes that are no UTF-8 become \n, \t, \r or \xNN, and a backslash
/// becomes two, so that no two texts look the same and `printf %b` gives the bytes back.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace holdfast::cli
