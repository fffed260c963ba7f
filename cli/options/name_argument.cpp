#include "options/name_argument.hpp"

#include <cstdio>

namespace holdfast::cli {

option_spec name_argument::row(const std::string& title, const std::string& help) {
  title_ = title;
  return {.names = title, .help = help, .into = &text_};
}

bool name_argument::complete(const std::string& command, const user_command& after_dashes, bool required) {
  const std::size_t words = after_dashes.size() + (text_.empty() ? 0 : 1);
  if (words == 1 && text_.empty()) text_ = after_dashes.front();
  const bool fine = required ? words == 1 && !text_.empty() : words <= 1;
  if (!fine) {
    std::fprintf(stderr, "holdfast: %s %s is given; say: holdfast %s %s; see holdfast %s --help\n",
                 words > 1 ? "more than one" : "no", title_.c_str(), command.c_str(), title_.c_str(), command.c_str());
  }
  return fine;
}

}  // namespace holdfast::cli
