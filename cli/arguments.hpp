#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// What the arguments of the program come to. So far nothing was done, and nothing said.
struct reading {
  action act{};        ///< what was asked for; empty: nothing but to say the text and to exit with the code
  int code = 0;        ///< 0: the text is help, for stdout; else it says what is wrong, for stderr
  std::string text{};  ///< without what a URL among the arguments may hide
};

/// Throws nothing but std::bad_alloc, whatever the arguments are.
[[nodiscard]] reading read_arguments(int argc, const char* const* argv);

}  // namespace holdfast::cli
