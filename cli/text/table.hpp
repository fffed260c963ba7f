#pragma once
#include <cstddef>
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

}  // namespace holdfast::cli
