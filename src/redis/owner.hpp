#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/claim.hpp"

namespace holdfast::redis {

/// What stands in a lock's key and in its queue: `<inbox>.<claim>-<claim ttl in ms>[ <label>]`, the first two 16
/// characters each. It says who holds or waits, where to tell it, and for how long a grant on its behalf may last.
[[nodiscard]] std::string owner_text(std::string_view inbox, const seam::owner_id&, std::chrono::milliseconds claim_ttl,
                                     std::string_view label);

/// 96 bits in 16 characters.
[[nodiscard]] std::string sixteen(std::uint64_t high, std::uint64_t low);

/// The label of a holder; nothing: the value is not ours, some other library holds the lock.
[[nodiscard]] std::optional<std::string_view> label_in(std::string_view value);

}  // namespace holdfast::redis
