#pragma once
#include <cstdint>

#include "storage/answer.hpp"

namespace holdfast::storage {

/// How much of a name a claim wants: the whole lock, a reader's place in it, or some permits of a semaphore.
///
/// One rule for all: in order of arrival, whoever is first gets in as soon as its part is free. So readers that stand
/// together enter together, and neither a writer nor a large request starves. All who use a name at one time must agree
/// on the whole.
struct share {
  static constexpr std::uint32_t lock = 1u << 30;  ///< the whole of a lock: room for as many readers as there are

  std::uint32_t part = lock;
  std::uint32_t whole = lock;

  [[nodiscard]] static constexpr share reader() noexcept { return {1, lock}; }
  [[nodiscard]] static constexpr share permits(std::uint32_t some, std::uint32_t of) noexcept { return {some, of}; }
  /// Nobody else may be in: a mutex, or a writer.
  [[nodiscard]] constexpr bool exclusive() const noexcept { return part == lock; }
  [[nodiscard]] constexpr bool of_a_lock() const noexcept { return whole == lock; }
  friend bool operator==(const share&, const share&) = default;
};

/// What somebody hears who wants a name as part of another whole than those who use it.
[[nodiscard]] failure disagreement(std::uint32_t there, std::uint32_t wanted);

}  // namespace holdfast::storage
