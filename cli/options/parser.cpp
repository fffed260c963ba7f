// The only source that includes CLI11, which takes several seconds to compile.
#include "options/parser.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>

#include "exit_code.hpp"
#include "options/help.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using word_list = std::vector<std::string>;

/// Adds an option to a command of CLI11, by the type of its target.
struct option_adder {
  CLI::App& to;
  const option_spec& o;

  CLI::Option* operator()(bool* into) const { return to.add_flag(o.names, *into, o.help); }
  CLI::Option* operator()(const std::function<void()>& act) const { return to.add_flag_callback(o.names, act, o.help); }
  CLI::Option* operator()(milliseconds* into) const { return add_duration(*into); }
  CLI::Option* operator()(std::optional<milliseconds>* into) const { return add_duration(*into); }
  CLI::Option* operator()(std::optional<int>* into) const {
    return to.add_option_function<int>(o.names, [into](int number) { *into = number; }, o.help);
  }
  CLI::Option* operator()(const value_reader& read) const {
    const auto refusing = [read](const std::string& text) {
      if (const std::string wrong = read(text); !wrong.empty()) throw CLI::ValidationError(wrong);
    };
    return to.add_option_function<std::string>(o.names, refusing, o.help);
  }
  /// fill_lists() stores the words. CLI11 would split "[a,b]" unless the option expects a fixed number of words.
  CLI::Option* operator()(word_list*) const {
    CLI::Option& added = *to.add_option(o.names, [](const CLI::results_t&) { return true; }, o.help);
    const int words = o.is_positional() ? most_words : 1;
    return added.expected(words, words)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  template <class Value>
  CLI::Option* operator()(Value* into) const {
    return to.add_option(o.names, *into, o.help);
  }

 private:
  static constexpr int most_words = 1 << 20;

  template <class Into>
  CLI::Option* add_duration(Into& into) const {
    return (*this)(value_reader([&into](const std::string& text) -> std::string {
      const auto parsed = parse_duration(text);
      if (!parsed) return "'" + text + "' is not a duration; use for example 250ms, 10s, 5m, 2h or 1d";
      into = *parsed;
      return "";
    }));
  }
};

void add(CLI::App& to, const option_spec& o) {
  if (const auto* const flag = std::get_if<bool*>(&o.into); flag != nullptr && *flag == nullptr) return;
  CLI::Option& added = *std::visit(option_adder{to, o}, o.into);
  if (o.check) added.check(o.check);
  if (o.range) added.check(CLI::Range(o.range->first, o.range->second));
  if (o.positive) added.check(CLI::PositiveNumber);
  if (!o.one_of.empty()) added.check(CLI::IsMember(o.one_of));
}

void add(CLI::App& to, const command_spec& c) {
  CLI::App& added = *to.add_subcommand(c.name, c.description);
  for (const option_spec& o : c.options) add(added, o);
  for (const option_spec& o : c.options) {
    for (const std::string& other : o.excludes) {
      added.get_option(o.first_name())->excludes(added.get_option(other));
    }
  }
}

/// Rewrites arguments that CLI11 would read differently: it takes the next word as the value of "--name=", and no word
/// that begins with a dash as a name.
word_list prepared(const program_spec& program, const word_list& arguments) {
  const command_spec* const command = arguments.empty() ? nullptr : program.find(arguments.front());
  if (command == nullptr) return arguments;
  word_list words;
  bool after_dashes = false;
  for (const std::string& each : arguments) {
    const std::string name = each.ends_with('=') ? each.substr(0, each.size() - 1) : "";
    const bool is_value = !words.empty() && command->option_with_value(words.back()) != nullptr;
    if (after_dashes && command->word_option() != nullptr) {
      words.insert(words.end(), {command->word_option()->names, each});
    } else if (!after_dashes && each == "--" && !is_value) {
      after_dashes = true;
    } else if (name.starts_with("--") && command->option_with_value(name) != nullptr) {
      words.insert(words.end(), {name, ""});
    } else {
      words.push_back(each);
    }
  }
  return words;
}

/// Stores the words in their lists, in the order of the command line. Returns an error, or an empty string.
std::string fill_lists(const CLI::App& command, const command_spec& c) {
  std::map<const CLI::Option*, std::size_t> read;
  const auto list_of = [](const option_spec& o) {
    const auto* const list = std::get_if<word_list*>(&o.into);
    return list == nullptr ? nullptr : *list;
  };
  for (const CLI::Option* const given : command.parse_order()) {
    for (const option_spec& o : c.options) {
      if (list_of(o) == nullptr || command.get_option(o.first_name()) != given) continue;
      list_of(o)->push_back(given->results()[read[given]++]);
    }
  }
  for (const option_spec& o : c.options) {
    const word_list* const list = list_of(o);
    if (list != nullptr && o.required && list->empty()) return "no " + o.names + " is given";
    if (list != nullptr && o.single && list->size() > 1) return "more than one " + o.names + " is given";
  }
  return "";
}

std::string no_command(const program_spec& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "no command given; usage: holdfast COMMAND [options]";
  const std::string& word = arguments.front();
  if (word.starts_with('-')) return "no command given; options come after it; usage: holdfast COMMAND [options]";
  if (!is_quotable(word)) return "unknown command";
  std::vector<std::string> names;
  for (const command_spec& c : program.commands) {
    if (!c.group.empty()) names.push_back(c.name);
  }
  return "unknown command '" + word + "'" + did_you_mean(word, names);
}

/// Returns the first unknown option without its value. Empty if there is none, or if it may be a secret.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& each : command.remaining(true)) {
    const std::string name = each.substr(0, each.find('='));
    if (name.size() < 2 || name.front() != '-') continue;
    if (name.starts_with("--") && is_quotable(name)) return name;
    if (!name.starts_with("--")) return name.substr(0, 2);  // the rest may be its value
  }
  return "";
}

/// Replaces the wording of CLI11.
std::string reworded(const CLI::App& command, const CLI::ParseError& e) {
  const std::string text = e.what();
  const auto between = [&](std::string_view before, std::string_view behind) {
    const std::size_t from = before.empty() ? 0 : text.find(before) + before.size();
    return text.substr(from, text.find(behind, from) - from);
  };
  const auto is = [&]<class T>(const T*) { return dynamic_cast<const T*>(&e) != nullptr; };
  if (is(static_cast<CLI::ExtrasError*>(nullptr))) return "too many arguments for " + command.get_name();
  if (is(static_cast<CLI::ArgumentMismatch*>(nullptr)) && text.ends_with(" missing")) {
    return between("", ":") + " needs a value";
  }
  if (is(static_cast<CLI::ConversionError*>(nullptr)) && text.starts_with("Could not convert: ")) {
    return between("Could not convert: ", " = ") + " needs a number";
  }
  if (is(static_cast<CLI::ExcludesError*>(nullptr)) && text.find(" excludes ") != std::string::npos) {
    return between("", " excludes ") + " and " + between(" excludes ", "\n") + " cannot be combined";
  }
  if (const std::size_t at = text.find("not in range "); at != std::string::npos) {
    return between("", ":") + " needs a number from " + text.substr(at + std::string_view("not in range ").size());
  }
  return text;
}

/// A hint in case an unknown option is meant as a name. Only a whole argument is quoted: the rest of a longer one may
/// be a secret.
std::string dashed_name_hint(const command_spec& command, const std::string& unknown, const word_list& arguments) {
  const option_spec* const o = command.word_option();
  if (o == nullptr) return "";
  const bool is_word = std::ranges::find(arguments, unknown) != arguments.end();
  return "; if it is a " + o->names.substr(2) + ", use " + o->names + "=" + (is_word ? unknown : o->value);
}

/// A question mark already ends the sentence.
std::string error_line(const std::string& what, const std::string& help) {
  return "holdfast: " + what + (what.ends_with('?') ? " See " : "; see ") + help + " --help\n";
}

/// Removes URLs among the arguments, which may contain passwords, from an error.
std::string without_urls(std::string text, const std::vector<std::string>& arguments) {
  for (const std::string& each : arguments) {
    const std::size_t at = each.find("://");
    if (at == std::string::npos || at + 3 == each.size()) continue;
    const std::string secret = each.substr(at);
    for (std::size_t found = 0; (found = text.find(secret, found)) != std::string::npos; found += 6) {
      text.replace(found + 3, secret.size() - 3, "...");
    }
  }
  return text;
}

std::string error_text(const program_spec& program, const CLI::App& app, const CLI::ParseError& e,
                       const std::vector<std::string>& arguments) {
  if (app.get_subcommands().empty() || !app.remaining().empty()) {
    return error_line(no_command(program, arguments), "holdfast");
  }
  const CLI::App& command = *app.get_subcommands().front();
  std::string what;
  if (const std::string unknown = unknown_option(command); !unknown.empty()) {
    const command_spec& spec = *program.find(command.get_name());
    std::vector<std::string> known;
    for (const option_spec& o : spec.options) {
      for (const std::string& name : o.names_with("--")) known.push_back(name);
    }
    const std::string meant = did_you_mean(unknown, known);
    what = "unknown option '" + unknown + "'" + (meant.empty() ? dashed_name_hint(spec, unknown, arguments) : meant);
  } else {
    what = reworded(command, e);
  }
  return error_line(without_urls(what, arguments), "holdfast " + command.get_name());
}

}  // namespace

parsed_arguments parse(const program_spec& program, const word_list& arguments) {
  CLI::App app("", "holdfast");
  app.set_version_flag("--version", program.version);
  app.set_help_flag("-h,--help");
  app.require_subcommand(1);
  for (const command_spec& c : program.commands) add(app, c);
  const auto chosen = [&]() -> const command_spec* {
    return app.get_subcommands().empty() ? nullptr : program.find(app.get_subcommands().front()->get_name());
  };
  try {
    const word_list words = prepared(program, arguments);
    app.parse(word_list(words.rbegin(), words.rend()));  // CLI11 expects them in reverse order
  } catch (const CLI::CallForVersion& e) {
    return {.text = std::string(e.what()) + "\n"};
  } catch (const CLI::Success&) {
    return {.text = chosen() == nullptr ? help_text(program) : help_text(program, *chosen())};
  } catch (const CLI::ParseError& e) {
    return {.code = usage, .text = error_text(program, app, e, arguments)};
  }
  const command_spec& command = *chosen();
  if (const std::string wrong = fill_lists(*app.get_subcommands().front(), command); !wrong.empty()) {
    return {.code = usage, .text = error_line(wrong, "holdfast " + command.name)};
  }
  if (command.after_parse) command.after_parse();
  return {.act = command.act};
}

}  // namespace holdfast::cli
