#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::cli {

/// What a program finds in its environment beyond ours; nothing: it does not find it, though we do.
using environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// For a process that was forked before this was known: written here, taken over there.
[[nodiscard]] std::string as_text(const environment&);
void take_over(std::string_view text);
/// Ours with these changes, as a program that is spawned wants it: NAME=value.
[[nodiscard]] std::vector<std::string> ours_with(const environment&);

}  // namespace holdfast::cli
