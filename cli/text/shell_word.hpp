#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The text in single quotes: one word to any shell of the Bourne family, whatever its bytes are.
[[nodiscard]] std::string shell_word(std::string_view text);
/// A line that such a shell reads as these words; quoted are only those that need it.
[[nodiscard]] std::string shell_words(const std::vector<std::string>&);

}  // namespace holdfast::cli
