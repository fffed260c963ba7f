#pragma once
#include <string>

#include "planted.hpp"

namespace holdfast::sim {

/// A script as the server runs it: with the bug that is planted now, if that one is in Lua.
[[nodiscard]] std::string with_planted_bug(std::string script);
[[nodiscard]] bool is_in_lua(bug) noexcept;

}  // namespace holdfast::sim
