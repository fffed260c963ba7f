#pragma once
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// Rows whose columns stand below one another though nobody knows the rows that follow: widths are fixed beforehand.
class table {
 public:
  struct column {
    std::string_view title;
    std::size_t width;      ///< the least, where it grows
    bool grows = false;     ///< gets a share of what the others leave
    bool to_right = false;  ///< numbers
    int needed = 0;         ///< where there is no room for all, the least needed go first
  };

  /// With the width of a terminal nothing is wider; without one nothing is cut, and a cell that is too long moves the
  /// rest of its row.
  table(std::vector<column> columns, std::optional<std::size_t> width);
  [[nodiscard]] std::string header() const;
  /// A cell for each column, those that have no room included. No newline, and no spaces at the end.
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  void drop_until_it_fits(std::size_t width);
  void share_out(std::size_t width);
  std::vector<column> columns_;
  std::vector<bool> shown_;
  const bool cuts_;
};

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

/// A bar that moves on a terminal, and is not there elsewhere.
class progress {
 public:
  progress(std::string what, int all, std::string unit = {});
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  void show(int now);

 private:
  const std::string what_;
  const int all_;
  const std::string unit_;
  const bool live_;
};

}  // namespace holdfast::cli
