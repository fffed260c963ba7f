#include "options/help.hpp"

#include <algorithm>

#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t options_end = 27;  // the column of the option's help text

std::string padded(std::string text, std::size_t to) {
  if (text.size() < to) text.append(to - text.size(), ' ');
  return text;
}

/// The command on the left and its effect on the right, or below if there is no room.
std::string examples_text(const std::vector<example>& all) {
  std::size_t column = 0;
  for (const example& e : all) column = std::max(column, e.line.size() + 4);
  std::string text;
  for (const example& e : all) {
    const std::string left = "  " + e.line;
    const bool beside = column + e.why.size() <= help_width;
    text += beside ? padded(left, column) + e.why : left + "\n      " + e.why;
    text += '\n';
  }
  return all.empty() ? text : text + "\n";
}

std::string positional_name(const option_spec& o) { return o.names + (o.takes_several() ? "..." : ""); }

std::string usage_of(const command_spec& c) {
  std::string text = "holdfast " + c.name + " [options]";
  for (const option_spec& o : c.options) {
    if (!o.is_positional()) continue;
    text += o.required ? " " + positional_name(o) : " [" + positional_name(o) + "]";
  }
  return text;
}

std::string option_text(const option_spec& o) {
  std::string names;
  if (o.is_positional()) {
    names = positional_name(o);
  } else {
    for (const char* const prefix : {"-", "--"}) {
      for (const std::string& one : o.names_with(prefix)) names += (names.empty() ? "" : ", ") + one;
    }
    if (!o.value.empty()) names += " " + o.value;
  }
  std::string left = padded("  " + names, options_end);
  if (left.back() != ' ') left += "\n" + std::string(options_end, ' ');
  return left + wrap(o.help, help_width, options_end, options_end) + "\n";
}

std::string options_text(const command_spec& c) {
  std::string positional, named;
  for (const option_spec& o : c.options) (o.is_positional() ? positional : named) += option_text(o);
  return positional + named;
}

}  // namespace

std::string help_text(const program_spec& program, const command_spec& c) {
  std::string text = examples_text(c.examples) + wrap(c.description, help_width) + "\n";
  text += wrap("Usage: " + (c.usage.empty() ? usage_of(c) : c.usage), help_width, 7) + "\n\n";
  text += options_text(c);
  return text + "\n" + wrap(c.footer.empty() ? program.footer : c.footer, help_width) + "\n";
}

std::string help_text(const program_spec& program) {
  std::vector<std::string> groups;
  for (const command_spec& c : program.commands) {
    const bool is_new = std::ranges::find(groups, c.group) == groups.end();
    if (!c.group.empty() && is_new) groups.push_back(c.group);
  }
  std::string text = examples_text(program.examples);
  for (const std::string& group : groups) {
    std::string heading = group;
    for (const command_spec& c : program.commands) {
      if (c.group != group) continue;
      text += padded(heading, 6) + padded(c.name, 9) + c.description + "\n";
      heading.clear();
    }
  }
  return text + "\n" + wrap(program.footer, help_width) + "\n";
}

}  // namespace holdfast::cli
