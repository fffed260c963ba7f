#include "help/formatter.hpp"

#include <algorithm>

#include "text/wrap.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t options_end = 27;  // the words on an option begin here

std::string padded(std::string text, std::size_t to) {
  if (text.size() < to) text.append(to - text.size(), ' ');
  return text;
}

/// What to type on the left, what it is good for on the right; below it, where it is too long for that.
std::string show(const std::vector<example>& all) {
  std::size_t column = 0;
  for (const example& e : all) column = std::max(column, e.line.size() + 4);
  std::string text;
  for (const example& e : all) {
    const std::string left = "  " + e.line;
    const bool beside = column + e.why.size() <= width;
    text += beside ? padded(left, column) + e.why : left + "\n      " + e.why;
    text += '\n';
  }
  return text;
}

std::string usage_of(const CLI::App& command, const std::string& name) {
  std::string text = name + " [options]";
  for (const CLI::Option* const o : command.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const bool several = o->get_items_expected_max() > 1;
    const std::string one = o->get_name(true, false) + (several ? "..." : "");
    text += o->get_required() ? " " + one : " [" + one + "]";
  }
  return text;
}

std::string names_of(const CLI::Option& o) {
  if (o.get_positional()) return o.get_name(true, false) + (o.get_items_expected_max() > 1 ? "..." : "");
  std::string names;
  for (const std::string& one : o.get_snames()) names += (names.empty() ? "-" : ", -") + one;
  for (const std::string& one : o.get_lnames()) names += (names.empty() ? "--" : ", --") + one;
  const std::string value = o.get_option_text();
  return value.empty() ? names : names + " " + value;
}

std::string show(const CLI::Option& o) {
  std::string left = padded("  " + names_of(o), options_end);
  if (left.back() != ' ') left += "\n" + std::string(options_end, ' ');
  return left + wrap(o.get_description(), width, options_end, options_end) + "\n";
}

std::string show_options(const CLI::App& command) {
  std::string positional, named;
  for (const CLI::Option* const o : command.get_options({})) {
    if (!o->get_group().empty()) (o->get_positional() ? positional : named) += show(*o);
  }
  return positional + named;
}

}  // namespace

std::string command_help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  std::string text;
  if (of == app) text = show(examples) + "\n";
  text += wrap(app->get_description(), width) + "\n";
  text += wrap("Usage: " + (of == app && !usage.empty() ? usage : usage_of(*app, name)), width, 7) + "\n\n";
  text += show_options(*app);
  if (const std::string footer = app->get_footer(); !footer.empty()) text += "\n" + wrap(footer, width) + "\n";
  return text;
}

std::string program_help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (of != app) return command_help::make_help(app, std::move(name), mode);
  std::vector<std::string> groups;
  const auto commands = app->get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
  for (const CLI::App* const c : commands) {
    if (std::find(groups.begin(), groups.end(), c->get_group()) == groups.end()) groups.push_back(c->get_group());
  }
  std::string text = show(examples) + "\n";
  for (const std::string& group : groups) {
    std::string heading = group;
    for (const CLI::App* const c : commands) {
      if (c->get_group() != group) continue;
      text += padded(heading, 6) + padded(c->get_name(), 9) + c->get_description() + "\n";
      heading.clear();
    }
  }
  return text + "\n" + wrap(app->get_footer(), width) + "\n";
}

}  // namespace holdfast::cli
