#include "text/style.hpp"

#include <unistd.h>

#include <cstdlib>

namespace holdfast::cli {

namespace {

bool is_set(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() noexcept {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

style::style(std::FILE* stream) noexcept
    : terminal_(::isatty(::fileno(stream)) == 1 && !is_dumb()), colours_(terminal_ && !is_set("NO_COLOR")) {}

std::string style::in(std::string_view code, std::string_view text) const {
  if (!colours_) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string style::bold(std::string_view text) const { return in("1", text); }
std::string style::dim(std::string_view text) const { return in("2", text); }
std::string style::red(std::string_view text) const { return in("31", text); }
std::string style::green(std::string_view text) const { return in("32", text); }
std::string style::yellow(std::string_view text) const { return in("33", text); }
std::string style::inverse(std::string_view text) const { return in("7", text); }

}  // namespace holdfast::cli
