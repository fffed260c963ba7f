#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace holdfast::sim {

/// An error that a command of the Redis server returns instead of a reply.
struct refusal {
  const char* words;
};
constexpr refusal wrong_type{"WRONGTYPE Operation against a key holding the wrong kind of value"};
constexpr refusal syntax{"ERR syntax error"};
constexpr refusal not_an_integer{"ERR value is not an integer or out of range"};

inline std::int64_t integer(const std::string& text) {
  std::int64_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc() || end != text.data() + text.size()) throw not_an_integer;
  return n;
}

inline double score_in(const std::string& text, const char* otherwise = "ERR value is not a valid float") {
  char* end = nullptr;
  const double score = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isnan(score)) throw refusal{otherwise};
  return score;
}

}  // namespace holdfast::sim
