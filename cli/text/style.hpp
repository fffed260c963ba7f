#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// Colours for one stream: only where somebody looks at it (a terminal that is not dumb), and has not said NO_COLOR.
class style {
 public:
  explicit style(std::FILE*) noexcept;
  static style with_colours(bool yes) noexcept { return {true, yes}; }  ///< for a terminal that is looked at anyway
  [[nodiscard]] bool live() const noexcept { return terminal_; }        ///< somebody looks: progress may be shown
  [[nodiscard]] std::string bold(std::string_view) const;
  [[nodiscard]] std::string dim(std::string_view) const;
  [[nodiscard]] std::string red(std::string_view) const;
  [[nodiscard]] std::string green(std::string_view) const;
  [[nodiscard]] std::string yellow(std::string_view) const;
  [[nodiscard]] std::string inverse(std::string_view) const;
  [[nodiscard]] bool colours() const noexcept { return colours_; }

 private:
  style(bool terminal, bool colours) noexcept : terminal_(terminal), colours_(colours) {}
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const;
  bool terminal_;
  bool colours_;
};

}  // namespace holdfast::cli
