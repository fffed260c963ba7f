#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::storage {

/// The id of one claim: random, never used twice.
struct owner_id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  /// Takes 48 bits of each of two random numbers: that many fit everywhere, also in the keys of Redis.
  [[nodiscard]] static constexpr owner_id of(std::uint64_t one, std::uint64_t other) noexcept {
    return {one >> 16, other >> 16};
  }
  friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string digits_of(const owner_id&);
/// Returns nothing if the text is not 32 hexadecimal digits.
[[nodiscard]] std::optional<owner_id> owner_of(std::string_view digits);

}  // namespace holdfast::storage
