#include "text/words.hpp"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

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

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

std::string two_units(std::int64_t count, std::int64_t each, std::string_view unit, std::string_view smaller) {
  const std::int64_t rest = count % each;
  std::string text = std::to_string(count / each).append(unit);
  return text.append(rest < 10 ? "0" : "").append(std::to_string(rest)).append(smaller);
}

}  // namespace

std::string brief(milliseconds all) {
  const milliseconds t = std::max(all, 0ms);
  if (t < 1s) return std::to_string(t.count()) + "ms";
  if (t < 1min) return std::to_string(t / 1s) + "s";
  if (t < 1h) return two_units(t / 1s, 60, "m", "s");
  if (t < 24h) return two_units(t / 1min, 60, "h", "m");
  if (t < 100 * 24h) return two_units(t / 1h, 24, "d", "h");
  return std::to_string(t / 24h) + "d";
}

milliseconds age_of(system_clock::time_point then, system_clock::time_point now) noexcept {
  return std::max(std::chrono::duration_cast<milliseconds>(now - then), 0ms);
}

std::string local_time(system_clock::time_point at) {
  const std::time_t seconds = system_clock::to_time_t(at);
  std::tm parts{};
  char text[32] = "";
  ::localtime_r(&seconds, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

namespace {

/// The Damerau-Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(last);
    last = now;
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) now[j] = std::min(now[j], before[j - 2] + 1);
    }
  }
  return now[b.size()];
}

}  // namespace

bool is_quotable(std::string_view word) noexcept {
  return word.size() <= 24 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_") == std::string_view::npos;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (const std::size_t d = distance(word, candidate); d < least && d < candidate.size()) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string did_you_mean_or_list(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = did_you_mean(word, candidates);
  return meant + (meant.empty() ? "; there are: " : " There are: ") + listed(candidates);
}

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
