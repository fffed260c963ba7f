#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// As in the options of a store's URL (src/redis/protocol/settings.cpp): "250ms", "10s", "1.5m", "2h", "1d"; a bare
/// number is seconds. Nothing: it is none, or too long for anybody.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// How long something took or has to go, in six columns at most (but for years): 250ms, 8s, 3m12s, 2h05m, 4d03h, 123d.
/// Rounded down; less than nothing is nothing.
[[nodiscard]] std::string brief(std::chrono::milliseconds);
/// From then to now, by a clock that may be another's: what is to come is 0.
[[nodiscard]] std::chrono::milliseconds age_of(std::chrono::system_clock::time_point then,
                                               std::chrono::system_clock::time_point now) noexcept;
/// "2026-03-01 13:05:09", of this machine's time zone.
[[nodiscard]] std::string local_time(std::chrono::system_clock::time_point);

/// Only what looks like a word of ours is quoted when it is refused: all else may be a URL with a password.
[[nodiscard]] bool is_quotable(std::string_view word) noexcept;
/// Which of the candidates was meant by a word with a typo: a letter too many, too few, another one, or two of them
/// exchanged, for every three letters. Empty: none.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& words);
/// "; did you mean 'run'?"; empty: there is none.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
/// The same, and all that there are.
[[nodiscard]] std::string instead_of(std::string_view word, const std::vector<std::string>& candidates);

/// The text in single quotes: one word to any shell of the Bourne family, whatever its bytes are.
[[nodiscard]] std::string shell_word(std::string_view text);
/// A line that such a shell reads as these words; quoted are only those that need it.
[[nodiscard]] std::string shell_words(const std::vector<std::string>&);

}  // namespace holdfast::cli
