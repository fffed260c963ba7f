#pragma once
#include <string_view>

#include "storage/answer.hpp"

namespace holdfast::redis {

/// What an error reply means for a lock, with the cure. The server's own words stay in the text. The prefix is that of
/// our keys: a user may lack rights to them.
[[nodiscard]] storage::failure meaning_of(std::string_view error, std::string_view prefix);

/// The script is not in the server's cache: load it, and ask again.
[[nodiscard]] bool is_noscript(std::string_view error) noexcept;
/// The user lacks a permission.
[[nodiscard]] bool is_forbidden(std::string_view error) noexcept;
/// The server does not know the command, or not under this name.
[[nodiscard]] bool is_unknown_command(std::string_view error) noexcept;
/// A slot is on its way to another node of the cluster, and some of the keys are not here, or not yet.
[[nodiscard]] bool is_try_again(std::string_view error) noexcept;
/// This server is not the one that takes writes (any more): look for it anew.
[[nodiscard]] bool is_wrong_server(std::string_view error) noexcept;

}  // namespace holdfast::redis
