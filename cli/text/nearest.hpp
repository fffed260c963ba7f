#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

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

}  // namespace holdfast::cli
