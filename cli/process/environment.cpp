#include "process/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace holdfast::cli {

std::string as_text(const environment& all) {
  std::string text;
  for (const auto& [name, value] : all) text += (value ? name + "=" + *value : name) + '\0';
  return text;
}

void take_over(std::string_view text) {
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\0')));
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) {
      ::unsetenv(line.c_str());
    } else {
      ::setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
    }
    text.remove_prefix(line.size() + 1);
  }
}

std::vector<std::string> ours_with(const environment& changes) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line(*at);
    const std::string_view name = line.substr(0, line.find('='));
    const bool changed = std::ranges::any_of(changes, [&](const auto& each) { return each.first == name; });
    if (!changed) all.emplace_back(line);
  }
  for (const auto& [name, value] : changes) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

}  // namespace holdfast::cli
