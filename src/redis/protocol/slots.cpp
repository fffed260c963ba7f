#include "redis/protocol/slots.hpp"

#include <array>
#include <charconv>

namespace holdfast::redis {

namespace {

constexpr auto crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000u) != 0 ? 0x1021u : 0u);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

/// CRC-16/XMODEM.
std::uint16_t slot_of_all(std::string_view text) noexcept {
  std::uint32_t crc = 0;
  for (const char c : text)
    crc = ((crc << 8) & 0xffffu) ^ crc_table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 255];
  return static_cast<std::uint16_t>(crc % slots_of_a_cluster);
}

std::string hex(std::uint32_t n) {
  char digits[8];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, n, 16);
  return {digits, end};
}

/// For each slot, the first number whose hex digits lie in it.
using tags = std::array<std::uint32_t, slots_of_a_cluster>;
tags all_tags() {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  tags all;
  all.fill(none);
  std::size_t left = all.size();
  for (std::uint32_t n = 0; left != 0; ++n) {
    std::uint32_t& at = all[slot_of_all(hex(n))];
    if (at != none) continue;
    at = n;
    --left;
  }
  return all;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  const std::size_t close = open == std::string_view::npos ? open : key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return slot_of_all(key);
  return slot_of_all(key.substr(open + 1, close - open - 1));
}

std::string tag_of(std::uint16_t slot) {
  static const tags all = all_tags();  // takes milliseconds, so it is computed on first use
  return hex(all[slot]);
}

}  // namespace holdfast::redis
