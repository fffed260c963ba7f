#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// How a fence travels over HTTP: "Holdfast-Fence: 1763251200000001", on reads as well as on writes. A server without
/// it answers 400; one whose gate refuses it (see fence_gates) answers 409.
inline constexpr std::string_view fence_header = "Holdfast-Fence";

[[nodiscard]] std::string format_fence(std::uint64_t fence);
/// Decimal digits alone, without a sign, a space or a zero in front, and not more than 64 bits have room for. 0 is the
/// fence of a lease that never held anything, and is refused like all the rest.
[[nodiscard]] std::optional<std::uint64_t> parse_fence(std::string_view) noexcept;

}  // namespace holdfast
