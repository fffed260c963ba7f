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
  /// Of two random numbers it takes 48 bits each: so many fit everywhere, in the keys of Redis, too.
  [[nodiscard]] static constexpr owner_id of(std::uint64_t one, std::uint64_t other) noexcept {
    return {one >> 16, other >> 16};
  }
  friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string digits_of(const owner_id&);
/// Nothing: these are not so many, or no digits.
[[nodiscard]] std::optional<owner_id> owner_of(std::string_view digits);

}  // namespace holdfast::storage
