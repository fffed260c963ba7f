#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "bench/report.hpp"

namespace holdfast::cli {

namespace {

std::string line(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string line(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

std::string row_of(const measurement& m, const measurement* raw) {
  const auto half = m.times.at_share(0.5);
  std::string text = line("%-11s %10.0f %10s %10s %10s", m.part.c_str(), m.per_second(), short_time(half).c_str(),
                          short_time(m.times.at_share(0.99)).c_str(), short_time(m.times.max()).c_str());
  const bool comparable = raw != nullptr && raw->times.at_share(0.5).count() > 0;
  text += comparable ? line(" %9.2fx",
                            static_cast<double>(half.count()) / static_cast<double>(raw->times.at_share(0.5).count()))
                     : std::string(11, ' ');
  return text + "   " + m.what + "\n";
}

/// Each row is twice as long a time as the one before.
std::string picture_of(const measurement& m) {
  constexpr std::uint64_t width = 40;
  std::uint64_t most = 1;
  for (const histogram::row& r : m.times.rows()) most = std::max(most, r.count);
  std::string text;
  for (const histogram::row& r : m.times.rows()) {
    const std::uint64_t full = r.count == 0 ? 0 : std::max<std::uint64_t>(1, r.count * width / most);
    const double share = 100 * static_cast<double>(r.count) / static_cast<double>(m.times.count());
    text +=
        line("  up to %8s |%-40s| %6.2f %%  %llu\n", short_time(r.up_to).c_str(),
             std::string(static_cast<std::size_t>(full), '#').c_str(), share, static_cast<unsigned long long>(r.count));
  }
  return text;
}

}  // namespace

std::string short_time(std::chrono::nanoseconds t) {
  const auto ns = static_cast<double>(t.count());
  const auto with = [](double value, const char* unit) {
    return line("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
  };
  if (ns < 999.5) return line("%.0f ns", ns);
  if (ns < 999.5e3) return with(ns / 1e3, "us");
  if (ns < 999.5e6) return with(ns / 1e6, "ms");
  return with(ns / 1e9, "s");
}

std::string as_text(const bench_report& all, const style& in) {
  std::string text;
  if (all.interrupted) text += "Stopped: this is what was seen so far.\n";
  text += in.bold(line("%-11s %10s %10s %10s %10s %10s", "", "a second", "p50", "p99", "max", "p50 / raw")) + "\n";
  if (all.raw) text += row_of(*all.raw, nullptr);
  for (const measurement& m : all.parts) text += row_of(m, all.raw ? &*all.raw : nullptr);
  for (const measurement& m : all.parts) {
    text.append("\n").append(in.bold(m.part + ": " + m.what)).append("\n").append(picture_of(m));
  }
  return text;
}

}  // namespace holdfast::cli
