#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// A cluster divides its keys and sharded channels into so many.
constexpr std::size_t slots_of_a_cluster = 16384;

/// By what stands between the first { of a key and the first } behind it, if that is something; else by all of it.
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// A short text that lies in this slot; the same for ever, since it is part of the keys of a lock.
[[nodiscard]] std::string tag_of(std::uint16_t slot);

}  // namespace holdfast::redis
