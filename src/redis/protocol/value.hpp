#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

/// A reply or push of a Redis server. Doubles, big numbers and verbatim texts are texts; maps and sets are lists;
/// attributes are dropped.
struct value {
  enum class kind : std::uint8_t { nil, integer, text, error, list, push };
  kind what = kind::nil;
  std::int64_t number = 0;   ///< integer; a boolean is 0 or 1
  std::string text;          ///< text or error
  std::vector<value> items;  ///< list or push

  [[nodiscard]] bool is(kind k) const noexcept { return what == k; }
};

}  // namespace holdfast::redis
