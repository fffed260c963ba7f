#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/protocol/codec.hpp"
#include "storage/answer.hpp"

/// Helpers that several sources of this folder share.
namespace holdfast::redis {

inline value text_value(std::string text) {
  return {.what = value::kind::text, .number = 0, .text = std::move(text), .items = {}};
}
inline value number_value(std::int64_t number) {
  return {.what = value::kind::integer, .number = number, .text = {}, .items = {}};
}
inline value list_value(std::vector<value> items) {
  return {.what = value::kind::list, .number = 0, .text = {}, .items = std::move(items)};
}

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The error text with which T::parse() rejects a URL, or "(taken)".
template <class T>
std::string refusal(const std::string& url) {
  try {
    (void)T::parse(url);
  } catch (const storage::failure& f) {
    EXPECT_EQ(f.code, errc::bad_url) << f.text;
    return f.text;
  }
  return "(taken)";
}

}  // namespace holdfast::redis
