#pragma once
#include <optional>
#include <string_view>

#include "holdfast/state.hpp"

namespace holdfast::redis {

/// The time that is this many microseconds after 1970.
[[nodiscard]] std::chrono::system_clock::time_point date_of(std::uint64_t microseconds) noexcept;

/// Reads the value of K:b, which scripts/break_lock.lua writes. Returns nothing if it is malformed.
[[nodiscard]] std::optional<state::note> break_record_in(std::string_view);
/// Reads the revoke request in the reply of scripts/inspect.lua: the fence, ' ' and the reason, '@', the time and the
/// author.
[[nodiscard]] state::note revoke_request_in_reply(std::string_view fence, std::string_view reason, std::string_view by);

}  // namespace holdfast::redis
