#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/codec.hpp"

namespace holdfast::test {

using redis::value;

/// A value as one line: `nil`, `7`, `"text"`, `!error`, `[a b]`, `>[a b]`. Two values are the same if their lines are.
inline std::string shown(const value& v) {
  switch (v.what) {
    case value::kind::nil: return "nil";
    case value::kind::integer: return std::to_string(v.number);
    case value::kind::text: return '"' + v.text + '"';
    case value::kind::error: return '!' + v.text;
    case value::kind::list:
    case value::kind::push: break;
  }
  std::string line = v.is(value::kind::push) ? ">[" : "[";
  for (const value& item : v.items) line.append(line.back() == '[' ? "" : " ").append(shown(item));
  return line + "]";
}

constexpr std::string_view out_of_step = "malformed";

/// All values that a decoder reads from pieces, one per line, and `malformed` at the end if the input is.
inline std::vector<std::string> decoded(const std::vector<std::string_view>& pieces) {
  redis::decoder d;
  std::vector<std::string> lines;
  for (const std::string_view piece : pieces) {
    d.feed(piece);
    try {
      while (const auto v = d.next()) lines.push_back(shown(*v));
    } catch (const redis::malformed&) {
      lines.emplace_back(out_of_step);
      break;
    }
  }
  return lines;
}

inline std::vector<std::string> decoded(std::string_view bytes) { return decoded(std::vector{bytes}); }

}  // namespace holdfast::test
