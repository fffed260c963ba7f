#include "help/refusal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "text/nearest.hpp"

namespace holdfast::cli {

namespace {

std::string no_command(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "no command is given; say: holdfast COMMAND [options]";
  const std::string& word = arguments.front();
  if (word.starts_with('-')) return "no command is given; options come after it; say: holdfast COMMAND [options]";
  if (!is_quotable(word)) return "this is no command";
  std::vector<std::string> names;
  for (const CLI::App* const c : program.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    names.push_back(c->get_name());
  }
  return "'" + word + "' is no command" + did_you_mean(word, names);
}

/// The first option that the command does not know, without its value; empty: there is none, or it is not for all eyes.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& each : command.remaining(true)) {
    const std::string name = each.substr(0, each.find('='));
    if (name.size() < 2 || name.front() != '-') continue;
    if (name.starts_with("--") && is_quotable(name)) return name;
    if (!name.starts_with("--")) return name.substr(0, 2);  // the rest may be its value
  }
  return "";
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const o : command.get_options({})) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// CLI11 has words of its own for these.
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
std::string line(const std::string& what, const std::string& help) {
  return "holdfast: " + what + (what.ends_with('?') ? " See " : "; see ") + help + " --help\n";
}

/// An argument in the wrong place is repeated to whoever gave it. A URL is not: it may have a password.
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

}  // namespace

std::string refusal(const CLI::App& program, const CLI::ParseError& e, const std::vector<std::string>& arguments) {
  if (program.get_subcommands().empty() || !program.remaining().empty()) {
    return line(no_command(program, arguments), "holdfast");
  }
  const CLI::App& command = *program.get_subcommands().front();
  std::string what;
  if (const std::string unknown = unknown_option(command); !unknown.empty()) {
    what = "there is no option '" + unknown + "'" + did_you_mean(unknown, options_of(command));
  } else {
    what = in_our_words(command, e);
  }
  return line(without_urls(what, arguments), "holdfast " + command.get_name());
}

}  // namespace holdfast::cli
