#pragma once
#include <string_view>

#include "storage/answer.hpp"

namespace holdfast::redis {

/// Returns what an error reply means for a lock, and how to fix it. The text keeps the words of the server. `prefix` is
/// that of our keys, which a user may not be permitted to access.
[[nodiscard]] storage::failure meaning_of(std::string_view error, std::string_view prefix);

/// The script is not in the server's cache and has to be loaded.
[[nodiscard]] bool is_noscript(std::string_view error) noexcept;
/// The user lacks a permission.
[[nodiscard]] bool is_forbidden(std::string_view error) noexcept;
/// The server does not know the command, or not under this name.
[[nodiscard]] bool is_unknown_command(std::string_view error) noexcept;
/// A slot is migrating to another node of the cluster, and some of the keys are not here.
[[nodiscard]] bool is_try_again(std::string_view error) noexcept;
/// This server does not take writes (any more), so the primary has to be looked up again.
[[nodiscard]] bool is_wrong_server(std::string_view error) noexcept;

}  // namespace holdfast::redis
