#pragma once
#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cli {

// The command line as data. options/parser.cpp translates it for CLI11; help and completion read it directly.

/// Runs a command to its end and returns the exit code.
using action = std::function<int()>;
/// The command that the user wants to run: the arguments after "--".
using user_command = std::vector<std::string>;
/// Reads or checks the value of an option. Returns the error, or an empty string.
using value_reader = std::function<std::string(const std::string&)>;

/// A command line and what it does.
struct example {
  std::string line{};
  std::string why{};
};

struct option_spec {
  /// Where the value is stored; it must outlive the parsing. A bool and a function without arguments are flags. A null
  /// bool is a flag that the parser handles itself: --help and --version.
  using target = std::variant<bool*, std::function<void()>, std::string*, std::optional<std::string>*,
                              std::vector<std::string>*, int*, std::optional<int>*, unsigned*,
                              std::chrono::milliseconds*, std::optional<std::chrono::milliseconds>*, value_reader>;

  std::string names{};  ///< "-w,--timeout"; a name without dashes is a positional argument
  std::string value{};  ///< name of the value in the help; empty for flags and positional arguments
  std::string help{};
  target into{};
  value_reader check{};  ///< called before the value is read; its error is prefixed with the option
  std::optional<std::pair<int, int>> range{};  ///< allowed range of a number, inclusive
  bool positive = false;                       ///< the number must be above 0
  std::vector<std::string> one_of{};           ///< allowed values; empty: any
  bool required = false;                ///< a list must not be empty after parsing; another row may have filled it
  bool single = false;                  ///< the list takes only one word
  std::vector<std::string> excludes{};  ///< options that cannot be combined with this one

  [[nodiscard]] bool is_positional() const { return !names.starts_with('-'); }
  /// Returns the first name, for example "--timeout" of "--timeout,-w".
  [[nodiscard]] std::string first_name() const { return names.substr(0, names.find(',')); }
  [[nodiscard]] bool takes_value() const;
  [[nodiscard]] bool takes_several() const;
  /// Returns the names with this prefix: "-" for short names, "--" for long ones.
  [[nodiscard]] std::vector<std::string> names_with(std::string_view prefix) const;
};
using option_rows = std::vector<option_spec>;
/// Returns a positional argument such as NAME and an option such as --name, which is for words that begin with a dash.
/// Both append to `into`.
[[nodiscard]] option_rows word_rows(const option_spec& positional, std::vector<std::string>& into);
/// Concatenates the rows.
[[nodiscard]] option_rows joined(std::initializer_list<option_rows>);
/// The row of -h and --help, which every command has first.
[[nodiscard]] option_spec help_row();

struct command_spec {
  std::string name{};
  std::string group{};  ///< heading in the program's help: "hold", "look", "act" or "care"; empty: hidden
  std::string description{};
  std::vector<example> examples{};
  std::string usage{};  ///< replaces the usage line, which is otherwise made from the options; may have several lines
  option_rows options{};
  std::string footer{};       ///< the exit codes; empty: the program's footer
  bool runs_command = false;  ///< "--" begins a user_command; in other commands it begins positional arguments
  std::function<void()> after_parse{};  ///< called when all arguments were read without an error
  action act{};

  /// Returns the option that accepts the same words as the positional argument (see word_rows()), or null.
  [[nodiscard]] const option_spec* word_option() const;
  /// Returns the option of this name if it takes a value, or null.
  [[nodiscard]] const option_spec* option_with_value(std::string_view word) const;
};
/// Describes a command. When its action runs, `after_dashes` holds the user_command if the command `runs_command`.
using describer = command_spec (*)(const user_command& after_dashes);

struct program_spec {
  std::string version{};
  std::vector<example> examples{};
  option_rows options{};
  std::string footer{};
  std::vector<command_spec> commands{};

  /// Returns null if there is no command of that name.
  [[nodiscard]] const command_spec* find(std::string_view name) const;
};

}  // namespace holdfast::cli
