#pragma once
#include <cstdint>

#include "storage/answer.hpp"

namespace holdfast::storage {

/// How much of a name a claim requests: the whole lock, a reader's place in it, or some permits of a semaphore.
///
/// Claims are admitted in order of arrival, the first as soon as its part is free. So readers that are next to each
/// other enter together, and neither a writer nor a large request starves. All clients of a name must agree on the
/// whole.
struct share {
  static constexpr std::uint32_t lock = 1u << 30;  ///< the capacity of a lock; each reader takes 1

  std::uint32_t part = lock;
  std::uint32_t whole = lock;

  [[nodiscard]] static constexpr share reader() noexcept { return {1, lock}; }
  [[nodiscard]] static constexpr share permits(std::uint32_t some, std::uint32_t of) noexcept { return {some, of}; }
  /// No other claim may be admitted beside it: a mutex, or a writer.
  [[nodiscard]] constexpr bool exclusive() const noexcept { return part == lock; }
  [[nodiscard]] constexpr bool of_a_lock() const noexcept { return whole == lock; }
  friend bool operator==(const share&, const share&) = default;
};

/// The error of a client that requests a name with another whole than its current users.
[[nodiscard]] failure disagreement(std::uint32_t there, std::uint32_t wanted);

}  // namespace holdfast::storage
