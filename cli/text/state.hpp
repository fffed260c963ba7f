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

// The state of a lock as text for people. The results are printable single lines.

/// "web1 4711 nightly": host, process and label, as far as known. The process is the one to signal: for `holdfast run`
/// the supervisor, not the worker.
[[nodiscard]] std::string who(const state::party&);
/// The first holder and the number of others; empty if there is none.
[[nodiscard]] std::string holders_in_brief(const state&);
/// "free", "lock", "shared x3", "permits 3/10", "foreign".
[[nodiscard]] std::string mode_of(const state&);
/// How long the first waiter has waited; empty if there is none or it is not known.
[[nodiscard]] std::optional<std::chrono::milliseconds> waited_for(const state&,
                                                                  std::chrono::system_clock::time_point now);
/// How long the longest of its holders has held it; empty if there is none or it is not known.
[[nodiscard]] std::optional<std::chrono::milliseconds> held_for(const state&,
                                                                std::chrono::system_clock::time_point now);

/// A name and its state as a table row.
[[nodiscard]] table lock_table(std::optional<std::size_t> width);
[[nodiscard]] std::vector<std::string> lock_cells(std::string_view name, const state&,
                                                  std::chrono::system_clock::time_point now);

// The state as JSON for programs. Unknown values are left out; times are in seconds, points in time since 1970.

/// Adds "name", and "name_hex" if the name is not valid UTF-8.
void put_name(json_value& into, std::string_view name);
[[nodiscard]] json_value to_json(const state::party&);
[[nodiscard]] json_value to_json(const state::holder&);
[[nodiscard]] json_value to_json(const state::note&);
void put_state(json_value& into, std::string_view name, const state&);
[[nodiscard]] json_value to_json(std::string_view name, const state&);
[[nodiscard]] json_value to_json(const guarantees&);
[[nodiscard]] double seconds_of(std::chrono::system_clock::time_point) noexcept;
/// One ASCII line with a newline; safe to print on a terminal.
[[nodiscard]] std::string to_line(const json_value&);

/// Everything that is known about a name, as printable lines.
[[nodiscard]] std::vector<std::string> describe(std::string_view name, const state&,
                                                std::chrono::system_clock::time_point now);
/// What a store guarantees, in one line.
[[nodiscard]] std::string describe(const guarantees&);

}  // namespace holdfast::cli
