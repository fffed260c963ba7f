#include "command.hpp"

#include <algorithm>

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

option_spec help_row() { return {.names = "-h,--help", .help = "this text"}; }

const command_spec* program_spec::find(std::string_view name) const {
  const auto found = std::ranges::find(commands, name, &command_spec::name);
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace holdfast::cli
