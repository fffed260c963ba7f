#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/state.hpp>
#include <holdfast/store.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.hpp"
#include "text/table.hpp"

namespace holdfast::cli {

// The state of a name in words for people: printable, each in one line.

/// "web1 4711 nightly": host, process and label, or what is known of them. The process is the one to signal: of a
/// `holdfast run` the one that was started, and not the worker behind it.
[[nodiscard]] std::string who(const state::party&);
/// All who hold it, in a few words: the first, and how many more. Empty: nobody.
[[nodiscard]] std::string holders_in_brief(const state&);
/// "free", "lock", "shared x3", "permits 3/10", "foreign".
[[nodiscard]] std::string mode_of(const state&);
/// For how long the first of those who wait has done so. Nothing: nobody waits, or it is not known.
[[nodiscard]] std::optional<std::chrono::milliseconds> waited_for(const state&,
                                                                  std::chrono::system_clock::time_point now);
/// For how long it has been held: the longest of its holders. Nothing: not known, or nobody holds it.
[[nodiscard]] std::optional<std::chrono::milliseconds> held_for(const state&,
                                                                std::chrono::system_clock::time_point now);

/// A name and its state as a row of a table.
[[nodiscard]] table lock_table(std::optional<std::size_t> width);
[[nodiscard]] std::vector<std::string> lock_cells(std::string_view name, const state&,
                                                  std::chrono::system_clock::time_point now);

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

/// All that is known of a name, for people: several lines, each printable.
[[nodiscard]] std::vector<std::string> describe(std::string_view name, const state&,
                                                std::chrono::system_clock::time_point now);
/// What a store promises, in a line.
[[nodiscard]] std::string describe(const guarantees&);

}  // namespace holdfast::cli
