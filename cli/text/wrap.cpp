#include "text/wrap.hpp"

namespace holdfast::cli {

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t used) {
  std::string all;
  std::size_t column = used;
  bool first = true;  // of its line
  const auto next_line = [&] {
    all += '\n';
    all.append(indent, ' ');
    column = indent;
    first = true;
  };
  while (!text.empty()) {
    if (text.front() == '\n') {
      next_line();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t blanks = text.find_first_not_of(' ');
    if (blanks == std::string_view::npos) break;
    const std::string_view word = text.substr(blanks, text.find_first_of(" \n", blanks) - blanks);
    if (!first && column + blanks + word.size() > width) {
      next_line();
    } else {
      all.append(blanks, ' ');
      column += blanks;
    }
    all += word;
    column += word.size();
    first = false;
    text.remove_prefix(blanks + word.size());
  }
  return all;
}

}  // namespace holdfast::cli
