// The only source that includes CLI11, which takes several seconds to compile.
#include "options/parser.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "exit_code.hpp"
#include "options/help.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;

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
  template <class Value>
  CLI::Option* operator()(Value* into) const {
    return to.add_option(o.names, *into, o.help);
  }

 private:
  template <class Into>
  CLI::Option* add_duration(Into& into) const {
    return (*this)(value_reader([&into](const std::string& text) -> std::string {
      const auto parsed = parse_duration(text);
      if (!parsed) return "'" + text + "' is no duration; say 250ms, 10s, 5m, 2h or 1d";
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
  if (o.required) added.required();
  if (o.single) added.expected(1);
}

void add(CLI::App& to, const command_spec& c) {
  CLI::App& added = *to.add_subcommand(c.name, c.description);
  for (const option_spec& o : c.options) add(added, o);
  for (const option_spec& o : c.options) {
    for (const std::string& other : o.excludes) {
      added.get_option(o.names.substr(0, o.names.find(',')))->excludes(added.get_option(other));
    }
  }
  if (c.after_parse) added.parse_complete_callback(c.after_parse);
}

std::string no_command(const program_spec& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "no command is given; say: holdfast COMMAND [options]";
  const std::string& word = arguments.front();
  if (word.starts_with('-')) return "no command is given; options come after it; say: holdfast COMMAND [options]";
  if (!is_quotable(word)) return "this is no command";
  std::vector<std::string> names;
  for (const command_spec& c : program.commands) {
    if (!c.group.empty()) names.push_back(c.name);
  }
  return "'" + word + "' is no command" + did_you_mean(word, names);
}

/// The first option that the command does not know, without its value. Empty if there is none, or if it may be a
/// secret.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& each : command.remaining(true)) {
    const std::string name = each.substr(0, each.find('='));
    if (name.size() < 2 || name.front() != '-') continue;
    if (name.starts_with("--") && is_quotable(name)) return name;
    if (!name.starts_with("--")) return name.substr(0, 2);  // the rest may be its value
  }
  return "";
}

/// CLI11 words these errors in its own way.
std::string in_our_words(const CLI::App& command, const CLI::ParseError& e) {
  const std::string text = e.what();
  const auto between = [&](std::string_view before, std::string_view behind) {
    const std::size_t from = before.empty() ? 0 : text.find(before) + before.size();
    return text.substr(from, text.find(behind, from) - from);
  };
  const auto is = [&]<class T>(const T*) { return dynamic_cast<const T*>(&e) != nullptr; };
  if (is(static_cast<CLI::ExtrasError*>(nullptr))) return "more is given than " + command.get_name() + " takes";
  if (is(static_cast<CLI::RequiredError*>(nullptr)) && text.ends_with(" is required")) {
    return "no " + between("", " is required") + " is given";
  }
  if (is(static_cast<CLI::ArgumentMismatch*>(nullptr)) && text.ends_with(" missing")) {
    return between("", ":") + " wants a value";
  }
  if (is(static_cast<CLI::ConversionError*>(nullptr)) && text.starts_with("Could not convert: ")) {
    return between("Could not convert: ", " = ") + " wants a number";
  }
  if (is(static_cast<CLI::ExcludesError*>(nullptr)) && text.find(" excludes ") != std::string::npos) {
    return between("", " excludes ") + " and " + between(" excludes ", "\n") + " exclude each other";
  }
  if (const std::size_t at = text.find("not in range "); at != std::string::npos) {
    return between("", ":") + " wants a number from " + text.substr(at + std::string_view("not in range ").size());
  }
  return text;
}

/// A question mark ends a sentence.
std::string refusal_line(const std::string& what, const std::string& help) {
  return "holdfast: " + what + (what.ends_with('?') ? " See " : "; see ") + help + " --help\n";
}

/// The error repeats an argument in the wrong place, but not a URL: it may contain a password.
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

std::string refusal(const program_spec& program, const CLI::App& app, const CLI::ParseError& e,
                    const std::vector<std::string>& arguments) {
  if (app.get_subcommands().empty() || !app.remaining().empty()) {
    return refusal_line(no_command(program, arguments), "holdfast");
  }
  const CLI::App& command = *app.get_subcommands().front();
  std::string what;
  if (const std::string unknown = unknown_option(command); !unknown.empty()) {
    std::vector<std::string> known;
    for (const option_spec& o : program.find(command.get_name())->options) {
      for (const std::string& name : o.names_with("--")) known.push_back(name);
    }
    what = "there is no option '" + unknown + "'" + did_you_mean(unknown, known);
  } else {
    what = in_our_words(command, e);
  }
  return refusal_line(without_urls(what, arguments), "holdfast " + command.get_name());
}

}  // namespace

reading parse(const program_spec& program, const std::vector<std::string>& arguments) {
  CLI::App app("", "holdfast");
  app.set_version_flag("--version", program.version);
  app.set_help_flag("-h,--help");
  app.require_subcommand(1);
  for (const command_spec& c : program.commands) add(app, c);
  const auto chosen = [&]() -> const command_spec* {
    return app.get_subcommands().empty() ? nullptr : program.find(app.get_subcommands().front()->get_name());
  };
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes the last one first
  } catch (const CLI::CallForVersion& e) {
    return {.text = std::string(e.what()) + "\n"};
  } catch (const CLI::Success&) {
    return {.text = chosen() == nullptr ? help_text(program) : help_text(program, *chosen())};
  } catch (const CLI::ParseError& e) {
    return {.code = usage, .text = refusal(program, app, e, arguments)};
  }
  return {.act = chosen()->act};
}

}  // namespace holdfast::cli
