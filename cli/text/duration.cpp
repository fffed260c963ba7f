#include "text/duration.hpp"

#include <charconv>
#include <cmath>

namespace holdfast::cli {

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  struct unit {
    std::string_view name;
    double milliseconds;
  };
  constexpr unit units[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 36e5}, {"d", 864e5}};
  constexpr double ten_years = 10 * 365 * 864e5;
  double number = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (why != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const unit& u : units) {
    if (rest != u.name) continue;
    const double all = number * u.milliseconds;
    if (all > ten_years) return std::nullopt;
    return std::chrono::milliseconds(std::llround(all));
  }
  return std::nullopt;
}

}  // namespace holdfast::cli
