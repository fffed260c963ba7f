#pragma once
#include "command.hpp"
#include "run/run.hpp"

namespace holdfast::cli {

/// `holdfast elect NAME -- CMD...`: campaigns for ever, and runs the command while it leads.
struct elect_options {
  run_options run{};
  unsigned max_terms = 0;  ///< 0: for ever
  bool observe = false;    ///< no command: who leads?
};

/// See command.hpp.
[[nodiscard]] command_spec describe_elect(const user_command& after_dashes);
/// To the end. Returns the exit code.
[[nodiscard]] int elect(const elect_options&);
/// Says who leads, one line a change, until a signal comes. Returns the exit code. Throws lock_error.
[[nodiscard]] int observe(const elect_options&);

}  // namespace holdfast::cli
