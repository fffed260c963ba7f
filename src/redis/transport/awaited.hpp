#pragma once
#include <cstddef>
#include <optional>
#include <utility>

#include "redis/protocol/codec.hpp"
#include "redis/protocol/link.hpp"

namespace holdfast::redis {

/// What one caller waits for: the reply to its command, or all that it wants, as one list.
class awaited {
 public:
  explicit awaited(const command& c) noexcept : due_(c.wanted()) {}
  [[nodiscard]] std::size_t due() const noexcept { return due_; }  ///< from the beginning
  /// The next of them. True: it was the last, and the answer is there.
  [[nodiscard]] bool take(value v) {
    if (due_ == 1) {
      got = std::move(v);
      return true;
    }
    all_.what = value::kind::list;
    all_.items.push_back(std::move(v));
    if (all_.items.size() < due_) return false;
    got = std::move(all_);
    return true;
  }

  std::optional<reply> got;

 private:
  const std::size_t due_;
  value all_;
};

}  // namespace holdfast::redis
