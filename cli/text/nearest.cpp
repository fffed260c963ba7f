#include "text/nearest.hpp"

#include <algorithm>

namespace holdfast::cli {

namespace {

/// How many such changes make one of the other.
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

std::string instead_of(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = did_you_mean(word, candidates);
  return meant + (meant.empty() ? "; there are: " : " There are: ") + listed(candidates);
}

}  // namespace holdfast::cli
