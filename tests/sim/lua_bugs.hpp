#pragma once
#include <string>

namespace holdfast {
enum class bug;  // in seeded_bugs.hpp, which sources without seeded bugs do not see
}

namespace holdfast::sim {

/// A script as the server runs it: with the bug that is seeded now, if that one is in Lua.
[[nodiscard]] std::string with_seeded_bug(std::string script);
[[nodiscard]] bool is_in_lua(bug) noexcept;

}  // namespace holdfast::sim
