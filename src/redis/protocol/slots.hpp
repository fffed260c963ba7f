#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// The number of slots that a cluster divides its keys and sharded channels into.
constexpr std::size_t slots_of_a_cluster = 16384;

/// Hashes the text between the first { of a key and the next }, if there is any, otherwise the whole key.
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// Returns a short text that hashes to this slot. It never changes, because it is part of the keys of locks.
[[nodiscard]] std::string tag_of(std::uint16_t slot);

}  // namespace holdfast::redis
