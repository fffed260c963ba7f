#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

/// What a Redis server says: one reply, or one push. Doubles, big numbers and verbatim texts are texts here; maps and
/// sets are lists; attributes are dropped.
struct value {
  enum class kind : std::uint8_t { nil, integer, text, error, list, push };
  kind what = kind::nil;
  std::int64_t number = 0;   ///< of an integer; booleans are 0 and 1
  std::string text;          ///< of a text, or the server's words of an error
  std::vector<value> items;  ///< of a list or a push

  [[nodiscard]] bool is(kind k) const noexcept { return what == k; }
};

}  // namespace holdfast::redis
