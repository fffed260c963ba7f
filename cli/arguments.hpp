#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// The result of reading the command line. Nothing has been done or printed yet.
struct parsed_arguments {
  action act{};        ///< runs the command; empty if the program only prints `text` and exits with `code`
  int code = 0;        ///< 0: `text` is help and goes to stdout; otherwise it is an error and goes to stderr
  std::string text{};  ///< passwords in URLs among the arguments are left out
};

/// Throws only std::bad_alloc, whatever the arguments are.
[[nodiscard]] parsed_arguments read_arguments(int argc, const char* const* argv);

}  // namespace holdfast::cli
