#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What a command does when it was chosen: to the end. Returns the exit code.
using action = std::function<int()>;
/// What follows "--" in the arguments: a command of the user's, and no business of ours.
using user_command = std::vector<std::string>;
/// Adds a command to the program. The action finds what was parsed; `after_dashes` is filled in before it is called.
using describer = action (*)(CLI::App& program, const user_command& after_dashes);

}  // namespace holdfast::cli
