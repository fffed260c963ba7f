#include "text/age.hpp"

#include <time.h>

#include <algorithm>
#include <string_view>

namespace holdfast::cli {

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

}  // namespace holdfast::cli
