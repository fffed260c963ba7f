#include "redis/owner.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool is_sixteen(std::string_view text) noexcept {
  return text.size() == 16 && text.find_first_not_of(digits) == std::string_view::npos;
}

}  // namespace

std::string sixteen(std::uint64_t high, std::uint64_t low) {
  std::string text(16, ' ');
  for (std::size_t n = 0; n < 8; ++n) {
    text[n] = digits[(high >> (6 * n)) & 63];
    text[8 + n] = digits[(low >> (6 * n)) & 63];
  }
  return text;
}

std::string owner_text(std::string_view inbox, const seam::owner_id& id, std::chrono::milliseconds claim_ttl,
                       std::string_view label) {
  std::string text(inbox);
  text.append(".").append(sixteen(id.high, id.low)).append("-").append(std::to_string(claim_ttl.count()));
  if (!label.empty()) text.append(" ").append(label);
  return text;
}

std::optional<std::string_view> label_in(std::string_view value) {
  if (value.size() < 35 || value[16] != '.' || value[33] != '-') return std::nullopt;
  if (!is_sixteen(value.substr(0, 16)) || !is_sixteen(value.substr(17, 16))) return std::nullopt;
  const std::size_t end = value.find_first_not_of("0123456789", 34);
  if (end == 34 || (end != std::string_view::npos && value[end] != ' ')) return std::nullopt;
  return end == std::string_view::npos ? std::string_view() : value.substr(end + 1);
}

}  // namespace holdfast::redis
