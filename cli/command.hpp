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

// The command line as data. options/parser.cpp translates it for the parsing library; help and completion read it as it
// is.

/// Runs a command to its end and returns the exit code.
using action = std::function<int()>;
/// The command line of the user's that a command of ours runs: the arguments after "--".
using user_command = std::vector<std::string>;
/// Reads or checks the value of an option. Returns what is wrong with it; an empty string if nothing is.
using value_reader = std::function<std::string(const std::string&)>;

/// A line to type, and what it does.
struct example {
  std::string line{};
  std::string why{};
};

struct option_spec {
  /// Where the value goes; it must outlive the parsing. A bool and a function without arguments are flags. A null bool
  /// is a flag that the parser itself acts on: --help and --version.
  using target = std::variant<bool*, std::function<void()>, std::string*, std::optional<std::string>*,
                              std::vector<std::string>*, int*, std::optional<int>*, unsigned*,
                              std::chrono::milliseconds*, std::optional<std::chrono::milliseconds>*, value_reader>;

  std::string names{};  ///< "-w,--timeout"; without dashes it is a positional argument
  std::string value{};  ///< how the help calls the value; empty for flags and positional arguments
  std::string help{};
  target into{};
  value_reader check{};                        ///< called before the value is read; its error names the option
  std::optional<std::pair<int, int>> range{};  ///< of a number, both ends included
  bool positive = false;                       ///< a number above 0
  std::vector<std::string> one_of{};           ///< the values that are allowed; empty: all
  bool required = false;                       ///< for a list: if no other row has filled it
  bool single = false;                         ///< a list of strings that takes one of them
  std::vector<std::string> excludes{};         ///< names of options that must not be given beside this one

  [[nodiscard]] bool is_positional() const { return !names.starts_with('-'); }
  /// Its first name: "--timeout" is that of "--timeout,-w".
  [[nodiscard]] std::string first_name() const { return names.substr(0, names.find(',')); }
  [[nodiscard]] bool takes_value() const;
  [[nodiscard]] bool takes_several() const;
  /// Those of its names that begin with this prefix and a letter: "-" or "--".
  [[nodiscard]] std::vector<std::string> names_with(std::string_view prefix) const;
};
using option_rows = std::vector<option_spec>;
/// A positional argument such as NAME and an option such as --name, for words that begin with a dash. Both add to
/// `into`.
[[nodiscard]] option_rows word_rows(const option_spec& positional, std::vector<std::string>& into);
/// All rows, in this order.
[[nodiscard]] option_rows joined(std::initializer_list<option_rows>);
/// -h and --help. Each command has them as its first row.
[[nodiscard]] option_spec help_row();

struct command_spec {
  std::string name{};
  std::string group{};  ///< "hold", "look", "act" or "care"; empty: not shown
  std::string description{};
  std::vector<example> examples{};
  std::string usage{};  ///< the text after "Usage:", which may have several lines; empty: made of the options
  option_rows options{};
  std::string footer{};       ///< the exit codes; empty: the footer of the program
  bool runs_command = false;  ///< "--" begins a user_command; in other commands it begins positional arguments
  std::function<void()> after_parse{};  ///< called when all arguments were read without an error
  action act{};

  /// The option that takes what the positional argument takes, see word_rows(). Null if there is none.
  [[nodiscard]] const option_spec* word_option() const;
  /// The option of that name whose value is the next word. Null if there is none.
  [[nodiscard]] const option_spec* option_with_value(std::string_view word) const;
};
/// Describes a command. Its action uses what was parsed; if it `runs_command`, `after_dashes` is that
/// command by then.
using describer = command_spec (*)(const user_command& after_dashes);

struct program_spec {
  std::string version{};
  std::vector<example> examples{};
  option_rows options{};
  std::string footer{};
  std::vector<command_spec> commands{};

  /// Null if there is none of that name.
  [[nodiscard]] const command_spec* find(std::string_view name) const;
};

}  // namespace holdfast::cli
