#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

/// What a call wants: a name, or several at once, `{"a", "b"}` or a container of std::string. It only refers to them,
/// and is meant to be an argument: whoever takes it copies what it keeps.
class names {
 public:
  template <std::convertible_to<std::string_view> Name>
  names(const Name& one) noexcept : one_(one) {}
  names(std::initializer_list<std::string_view> several) noexcept : views_(several), is_one_(false) {}
  template <std::ranges::contiguous_range Names>
    requires std::same_as<std::ranges::range_value_t<Names>, std::string>
  names(const Names& several) noexcept : strings_(several), is_one_(false) {}

  [[nodiscard]] std::size_t size() const noexcept { return is_one_ ? 1 : views_.size() + strings_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t n) const noexcept {
    if (is_one_) return one_;
    return views_.empty() ? std::string_view(strings_[n]) : views_[n];
  }

 private:
  std::string_view one_;
  std::span<const std::string_view> views_;
  std::span<const std::string> strings_;
  bool is_one_ = true;
};

}  // namespace holdfast
