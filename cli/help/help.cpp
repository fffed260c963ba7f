#include "help/help.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "help/formatter.hpp"

namespace holdfast::cli {

namespace {

/// Commands are made with the formatter of the program; each gets one of its own when it has something to say.
command_help& help_of(CLI::App& command) {
  if (const auto its_own = std::dynamic_pointer_cast<command_help>(command.get_formatter());
      its_own != nullptr && its_own->of == &command) {
    return *its_own;
  }
  const auto made = std::make_shared<command_help>(&command);
  command.formatter(made);
  return *made;
}

}  // namespace

void teach(CLI::App& program, std::vector<example> all) {
  const auto made = std::make_shared<program_help>(&program);
  made->examples = std::move(all);
  program.formatter(made);
}

void examples(CLI::App& command, std::vector<example> all) { help_of(command).examples = std::move(all); }

void usage_line(CLI::App& command, std::string line) { help_of(command).usage = std::move(line); }

}  // namespace holdfast::cli
