#pragma once
#include <chrono>
#include <holdfast/state.hpp>
#include <holdfast/store.hpp>
#include <string>
#include <string_view>

#include "text/json.hpp"

namespace holdfast::cli {

// For programs. What the store does not know is left out; times are in seconds, points in time since 1970.

/// "name", and "name_hex" where a name is no UTF-8 and cannot stand in JSON as it is.
void put_name(json_value& into, std::string_view name);
[[nodiscard]] json_value to_json(const state::party&);
[[nodiscard]] json_value to_json(const state::holder&);
[[nodiscard]] json_value to_json(const state::note&);
void put_state(json_value& into, std::string_view name, const state&);
[[nodiscard]] json_value to_json(std::string_view name, const state&);
[[nodiscard]] json_value to_json(const guarantees&);
[[nodiscard]] double seconds_of(std::chrono::system_clock::time_point) noexcept;
/// One line, its newline included, of ASCII: harmless on a terminal, too.
[[nodiscard]] std::string to_line(const json_value&);

}  // namespace holdfast::cli
