#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/claim.hpp"

namespace holdfast::redis {

/// Returns the owner, which is stored in the lock's key and in its queue: `<inbox>.<claim><mode><claim ttl in ms>[
/// <label>]`, the first two with 16 characters each. The mode is `-` for an exclusive lock, `+` for a reader, `:8-` for
/// eight permits. The claim ttl is that of a grant on behalf of a waiter.
[[nodiscard]] std::string owner_text(std::string_view inbox, const storage::owner_id&, const storage::share&,
                                     std::chrono::milliseconds claim_ttl, std::string_view label);
/// Returns the mode `-`, `+` or `:`; any character for an owner that is not ours.
[[nodiscard]] char wants_in(std::string_view owner) noexcept;
/// Returns the owner that a writer has after its downgrade to a reader.
[[nodiscard]] std::string as_reader(std::string owner);

/// 96 bits in 16 characters.
[[nodiscard]] std::string sixteen(std::uint64_t high, std::uint64_t low);

/// The parts of an owner. The views refer to the text that was read.
struct owner_reading {
  std::string_view inbox;
  storage::owner_id id;
  char wants = '-';           ///< the mode, see wants_in()
  std::uint32_t permits = 0;  ///< for `:`
  std::string_view label;

  /// Returns nothing if the text is not ours.
  [[nodiscard]] static std::optional<owner_reading> of(std::string_view value);
};

/// Returns the label of a holder, or nothing if another library holds the lock.
[[nodiscard]] std::optional<std::string_view> label_in(std::string_view value);

}  // namespace holdfast::redis
