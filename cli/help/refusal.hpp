#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace holdfast::cli {

/// What is wrong with the arguments, and what would be right: a line for stderr. Repeats nothing that may be a secret.
[[nodiscard]] std::string refusal(const CLI::App& program, const CLI::ParseError&,
                                  const std::vector<std::string>& arguments);

}  // namespace holdfast::cli
