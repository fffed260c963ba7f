#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/claim.hpp"

namespace holdfast::redis {

/// What stands in a lock's key and in its queue: `<inbox>.<claim><wants><claim ttl in ms>[ <label>]`, the first two 16
/// characters each. It says who holds or waits, where to tell it, what it wants (`-` the whole lock, `+` a reader's
/// place, `:8-` eight permits), and for how long a grant on its behalf may last.
[[nodiscard]] std::string owner_text(std::string_view inbox, const storage::owner_id&, const storage::share&,
                                     std::chrono::milliseconds claim_ttl, std::string_view label);
/// `-`, `+` or `:`; of what is none of ours, anything.
[[nodiscard]] char wants_in(std::string_view owner) noexcept;
/// The same owner, as the reader that a writer becomes.
[[nodiscard]] std::string as_reader(std::string owner);

/// 96 bits in 16 characters.
[[nodiscard]] std::string sixteen(std::uint64_t high, std::uint64_t low);

/// What such a text says. The views are of the text.
struct owner_reading {
  std::string_view inbox;
  storage::owner_id id;
  char wants = '-';           ///< as wants_in()
  std::uint32_t permits = 0;  ///< of `:`
  std::string_view label;

  /// Nothing: the text is not ours.
  [[nodiscard]] static std::optional<owner_reading> of(std::string_view value);
};

/// The label of a holder; nothing: the value is not ours, some other library holds the lock.
[[nodiscard]] std::optional<std::string_view> label_in(std::string_view value);

}  // namespace holdfast::redis
