#include "redis/keys.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::string_view ours = "holdfast:";

/// Injective, and without what would move a key to another slot.
std::string encoded(std::string_view name) {
  constexpr char hex[] = "0123456789ABCDEF";
  std::string safe;
  safe.reserve(name.size());
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '{' || c == '}' || c == '%') {
      safe.append({'%', hex[byte >> 4], hex[byte & 15]});
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

constexpr auto crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000u) != 0 ? 0x1021u : 0u);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

/// CRC-16/XMODEM, of which a cluster takes the slot.
std::uint16_t slot_of(std::string_view text) noexcept {
  std::uint32_t crc = 0;
  for (const char c : text)
    crc = ((crc << 8) & 0xffffu) ^ crc_table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 255];
  return static_cast<std::uint16_t>(crc % 16384);
}

/// A short text that lies in the same slot.
std::string tag_for(std::string_view text) {
  const std::uint16_t wanted = slot_of(text);
  char digits[8];
  for (unsigned n = 0;; ++n) {
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, n, 16);
    const std::string_view tag(digits, static_cast<std::size_t>(end - digits));
    if (slot_of(tag) == wanted) return std::string(tag);
  }
}

/// How the companions of a key begin that is used as it stands.
std::string base_of(std::string_view key) {
  const std::size_t open = key.find('{');
  const std::size_t close = open == std::string_view::npos ? open : key.find('}', open + 1);
  std::string base(ours);
  if (close != std::string_view::npos && close > open + 1) return base.append(key).append(";");  // it has its own tag
  if (key.find('}') == std::string_view::npos) return base.append("{").append(key).append("}:");
  return base.append("{").append(tag_for(key)).append("}").append(key).append("!");
}

}  // namespace

keys::keys(std::string_view prefix, std::string_view name)
    : keys(of_lock(prefix, prefix.empty() ? std::string(name)
                                          : std::string(prefix).append("{").append(encoded(name)).append("}"))) {}

bool keys::may_be(std::string_view prefix, std::string_view name) noexcept {
  return !prefix.empty() || !name.starts_with(ours);
}

keys keys::of_lock(std::string_view prefix, std::string lock) {
  keys k;
  const std::string base = prefix.empty() ? base_of(lock) : lock + ":";
  k.queue = base + "q";
  k.fence = base + "f";
  k.lock = std::move(lock);
  return k;
}

std::string inboxes(std::string_view prefix) { return std::string(prefix.empty() ? ours : prefix).append("in:"); }

std::string client_record(std::string_view prefix, std::string_view inbox) {
  return std::string(prefix.empty() ? ours : prefix).append("client:").append(inbox);
}

}  // namespace holdfast::redis
