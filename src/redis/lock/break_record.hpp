#pragma once
#include <optional>
#include <string_view>

#include "holdfast/state.hpp"

namespace holdfast::redis {

/// The time that a number of microseconds says.
[[nodiscard]] std::chrono::system_clock::time_point date_of(std::uint64_t microseconds) noexcept;

/// What stands in K:b, as scripts/break_lock.lua writes it. Nothing: it is none.
[[nodiscard]] std::optional<state::note> note_of_breaking(std::string_view);
/// What scripts/inspect.lua tells of K:a: the fence that is meant, ' ' and the reason, '@' and the time and who asks.
[[nodiscard]] state::note note_of_asking(std::string_view fence, std::string_view reason, std::string_view by);

}  // namespace holdfast::redis
