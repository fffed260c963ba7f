#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "help/help.hpp"

namespace holdfast::cli {

/// How the help of a command looks: examples, what it is, usage, options, exit codes; 80 columns.
class command_help : public CLI::FormatterBase {
 public:
  explicit command_help(const CLI::App* app) : of(app) {}
  std::string make_help(const CLI::App*, std::string name, CLI::AppFormatMode) const override;

  const CLI::App* of;  ///< a command that has not called examples() yet shares that of the program
  std::vector<example> examples{};
  std::string usage{};
};

/// How that of the program looks.
class program_help final : public command_help {
 public:
  using command_help::command_help;
  std::string make_help(const CLI::App*, std::string name, CLI::AppFormatMode) const override;
};

}  // namespace holdfast::cli
