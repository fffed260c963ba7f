#include "text/shell_word.hpp"

namespace holdfast::cli {

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    line += (line.empty() ? "" : " ") + (is_plain ? word : shell_word(word));
  }
  return line;
}

}  // namespace holdfast::cli
