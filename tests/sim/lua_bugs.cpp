#include "sim/lua_bugs.hpp"

namespace holdfast::sim {

std::string with_planted_bug(std::string script) { return script; }

}  // namespace holdfast::sim
