#include "storage/owner.hpp"

#include <charconv>

namespace holdfast::storage {

std::string digits_of(const owner_id& id) {
  std::string digits(32, '0');
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const std::uint64_t half = at < 16 ? id.high : id.low;
    digits[at] = "0123456789abcdef"[(half >> (60 - 4 * (at % 16))) & 15];
  }
  return digits;
}

std::optional<owner_id> owner_of(std::string_view digits) {
  owner_id id;
  const auto read = [](std::string_view half, std::uint64_t& into) {
    const auto [end, error] = std::from_chars(half.data(), half.data() + half.size(), into, 16);
    return error == std::errc() && end == half.data() + half.size();
  };
  if (digits.size() != 32 || !read(digits.substr(0, 16), id.high) || !read(digits.substr(16), id.low)) return {};
  return id;
}

}  // namespace holdfast::storage
