#pragma once
#include <string>

namespace holdfast {
enum class bug;  // in planted.hpp, which sources without seeded bugs do not see
}

namespace holdfast::sim {

/// A script as the server runs it: with the bug that is planted now, if that one is in Lua.
[[nodiscard]] std::string with_planted_bug(std::string script);
[[nodiscard]] bool is_in_lua(bug) noexcept;

}  // namespace holdfast::sim
