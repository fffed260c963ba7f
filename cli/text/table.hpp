#pragma once
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// A table with fixed column widths, so that rows can be printed before later ones are known.
class table {
 public:
  struct column {
    std::string_view title;
    std::size_t width;      ///< the minimum for growing columns
    bool grows = false;     ///< gets a share of the remaining width
    bool to_right = false;  ///< right-aligned, for numbers
    int needed = 0;         ///< if the width is too small, columns with the lowest value are dropped first
  };

  /// With a width, rows are cut to it. Without one nothing is cut, and a long cell shifts the rest of its row.
  table(std::vector<column> columns, std::optional<std::size_t> width);
  [[nodiscard]] std::string header() const;
  /// Takes a cell for each column, including dropped ones. Returns the row without a newline and without trailing
  /// spaces.
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  void drop_until_it_fits(std::size_t width);
  void share_out(std::size_t width);
  std::vector<column> columns_;
  std::vector<bool> shown_;
  const bool cuts_;
};

/// Colours for one stream. They are used only on a terminal that is not dumb, and not if NO_COLOR is set.
class style {
 public:
  explicit style(std::FILE*) noexcept;
  static style with_colours(bool yes) noexcept { return {true, yes}; }  ///< for a stream known to be a terminal
  [[nodiscard]] bool live() const noexcept { return terminal_; }        ///< a terminal, so progress may be shown
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

/// A progress bar, only shown on a terminal.
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
