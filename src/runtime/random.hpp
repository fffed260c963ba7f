#pragma once
#include <cstdint>

namespace holdfast::runtime {

/// 64 unpredictable bits from the kernel, never the same in a fork. Throws std::system_error.
[[nodiscard]] std::uint64_t random_bits();

}  // namespace holdfast::runtime
