#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// Reads a duration like the options of a store's URL (src/redis/protocol/settings.cpp): "250ms", "10s", "1.5m", "2h",
/// "1d"; a bare number is seconds. Returns nothing for other texts and for more than ten years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A duration in at most six columns (except for years): 250ms, 8s, 3m12s, 2h05m, 4d03h, 123d. Rounded down; negative
/// durations are 0.
[[nodiscard]] std::string brief(std::chrono::milliseconds);
/// From `then` to `now`. Never negative, although the clocks may differ.
[[nodiscard]] std::chrono::milliseconds age_of(std::chrono::system_clock::time_point then,
                                               std::chrono::system_clock::time_point now) noexcept;
/// "2026-03-01 13:05:09" in the local time zone.
[[nodiscard]] std::string local_time(std::chrono::system_clock::time_point);

/// Returns whether an error may quote the word. Other texts may be a URL with a password.
[[nodiscard]] bool is_quotable(std::string_view word) noexcept;
/// Returns the candidate closest to a mistyped word: at most one edit (insertion, deletion, substitution,
/// transposition) per three letters. Empty if none is that close.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& words);
/// "; did you mean 'run'?", or empty.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
/// Like did_you_mean(), followed by all candidates.
[[nodiscard]] std::string did_you_mean_or_list(std::string_view word, const std::vector<std::string>& candidates);

/// Quotes the text as one word for a Bourne shell, whatever its bytes are.
[[nodiscard]] std::string shell_word(std::string_view text);
/// A shell command line for these words, quoted where needed.
[[nodiscard]] std::string shell_words(const std::vector<std::string>&);

}  // namespace holdfast::cli
