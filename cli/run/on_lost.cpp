#include "run/on_lost.hpp"

#include <cctype>
#include <map>
#include <string_view>

namespace holdfast::cli {

std::optional<on_lost> on_lost::of(const std::string& text) {
  static const std::map<std::string, int> known{
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"ABRT", SIGABRT},
  };
  constexpr std::string_view exec = "exec:";
  if (text.starts_with(exec) && text.size() > exec.size()) return on_lost{SIGTERM, text.substr(exec.size())};
  std::string word = text;
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (word == "IGNORE") return on_lost{0};
  if (word.starts_with("SIG")) word.erase(0, 3);
  const auto at = known.find(word);
  if (at == known.end()) return std::nullopt;
  return on_lost{at->second};
}

}  // namespace holdfast::cli
