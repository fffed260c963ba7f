#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Something to type, and what it is good for.
struct example {
  std::string line{};
  std::string why{};
};

/// The help of the program: examples, the commands by their groups, and nothing that does not fit on a screen. A
/// command says which group it is in by App::group: "hold", "look", "act", "care"; empty: it is not shown.
void teach(CLI::App& program, std::vector<example>);
/// The help of a command begins with these. Its footer says its exit codes. Call this once for every command.
void examples(CLI::App& command, std::vector<example>);
/// What stands behind "Usage:", if it is more than the options and positional arguments. It may have several lines.
void usage_line(CLI::App& command, std::string);

}  // namespace holdfast::cli
