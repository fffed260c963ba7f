#include "command.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::cli {

bool option_spec::takes_value() const {
  return !std::holds_alternative<bool*>(into) && !std::holds_alternative<std::function<void()>>(into);
}

bool option_spec::takes_several() const { return std::holds_alternative<std::vector<std::string>*>(into) && !single; }

std::vector<std::string> option_spec::names_with(std::string_view prefix) const {
  std::vector<std::string> found;
  for (std::size_t from = 0; from < names.size();) {
    const std::size_t end = std::min(names.find(',', from), names.size());
    const std::string name = names.substr(from, end - from);
    if (name.find_first_not_of('-') == prefix.size()) found.push_back(name);
    from = end + 1;
  }
  return found;
}

option_rows joined(std::initializer_list<option_rows> parts) {
  option_rows all;
  for (const option_rows& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

option_rows word_rows(const option_spec& positional, std::vector<std::string>& into) {
  std::string word = positional.names;
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  option_rows both{positional, positional};
  both[1].names = "--" + word;
  both[1].value = positional.names;
  both[1].help = "one that begins with a dash: --" + word + "=-x";
  both[1].required = false;
  for (option_spec& each : both) each.into = &into;
  return both;
}

option_spec help_row() { return {.names = "-h,--help", .help = "print this help"}; }

const option_spec* command_spec::word_option() const {
  const auto is_positional = [](const option_spec& o) { return o.is_positional(); };
  const auto word = std::ranges::find_if(options, is_positional);
  if (word == options.end()) return nullptr;
  const auto also = std::ranges::find_if(options, [&](const option_spec& o) { return o.value == word->names; });
  return also == options.end() ? nullptr : &*also;
}

const option_spec* command_spec::option_with_value(std::string_view word) const {
  const auto is_it = [&](const option_spec& o) {
    const auto has = [&](const char* prefix) { return std::ranges::count(o.names_with(prefix), word) > 0; };
    return o.takes_value() && (has("-") || has("--"));
  };
  const auto found = std::ranges::find_if(options, is_it);
  return found == options.end() ? nullptr : &*found;
}

const command_spec* program_spec::find(std::string_view name) const {
  const auto found = std::ranges::find(commands, name, &command_spec::name);
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace holdfast::cli
