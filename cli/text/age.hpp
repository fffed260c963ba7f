#pragma once
#include <chrono>
#include <string>

namespace holdfast::cli {

/// How long something took or has to go, in six columns at most (but for years): 250ms, 8s, 3m12s, 2h05m, 4d03h, 123d.
/// Rounded down; less than nothing is nothing.
[[nodiscard]] std::string brief(std::chrono::milliseconds);
/// From then to now, by a clock that may be another's: what is to come is 0.
[[nodiscard]] std::chrono::milliseconds age_of(std::chrono::system_clock::time_point then,
                                               std::chrono::system_clock::time_point now) noexcept;
/// "2026-03-01 13:05:09", of this machine's time zone.
[[nodiscard]] std::string local_time(std::chrono::system_clock::time_point);

}  // namespace holdfast::cli
