#include "redis/protocol/owner.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {

namespace {

/// The position of the mode.
constexpr std::size_t after_ids = 33;

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Reads 48 bits from eight characters.
std::uint64_t half_of(std::string_view text) noexcept {
  std::uint64_t half = 0;
  for (std::size_t n = 0; n < 8; ++n) half |= std::uint64_t{base64_digits.find(text[n])} << (6 * n);
  return half;
}

void append_sixteen(std::string& text, std::uint64_t high, std::uint64_t low) {
  char all[16];
  for (std::size_t n = 0; n < 8; ++n) {
    all[n] = base64_digits[(high >> (6 * n)) & 63];
    all[8 + n] = base64_digits[(low >> (6 * n)) & 63];
  }
  text.append(all, sizeof all);
}

void append_number(std::string& text, std::int64_t number) {
  char all[24];
  const auto [end, error] = std::to_chars(all, all + sizeof all, number);
  text.append(all, end);
}

bool is_sixteen(std::string_view text) noexcept {
  return text.size() == 16 && text.find_first_not_of(base64_digits) == std::string_view::npos;
}

}  // namespace

std::string sixteen(std::uint64_t high, std::uint64_t low) {
  std::string text;
  append_sixteen(text, high, low);
  return text;
}

std::string owner_text(std::string_view inbox, const storage::owner_id& id, const storage::share& wants,
                       std::chrono::milliseconds claim_ttl, std::string_view label) {
  std::string text;
  text.reserve(80 + label.size());
  text.append(inbox).push_back('.');
  append_sixteen(text, id.high, id.low);
  if (!wants.of_a_lock()) {
    text.push_back(':');
    append_number(text, wants.part);
  }
  text.push_back(wants == storage::share::reader() ? '+' : '-');
  append_number(text, claim_ttl.count());
  if (!label.empty()) text.append(" ").append(label);
  return text;
}

char wants_in(std::string_view owner) noexcept { return owner.size() > after_ids ? owner[after_ids] : '\0'; }

std::string as_reader(std::string owner) {
  owner[after_ids] = '+';
  return owner;
}

std::optional<owner_reading> owner_reading::of(std::string_view value) {
  if (value.size() <= after_ids || value[16] != '.') return std::nullopt;
  owner_reading is{.inbox = value.substr(0, 16), .id = {}, .wants = value[after_ids], .label = {}};
  const std::string_view claim = value.substr(17, 16);
  if (!is_sixteen(is.inbox) || !is_sixteen(claim)) return std::nullopt;
  is.id = {half_of(claim.substr(0, 8)), half_of(claim.substr(8))};
  std::string_view rest = value.substr(after_ids);
  const auto take_number = [&](std::string_view marks, std::uint32_t* into) {
    if (rest.empty() || marks.find(rest.front()) == std::string_view::npos) return false;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (into != nullptr) std::from_chars(rest.data() + 1, rest.data() + end, *into);
    rest.remove_prefix(end);
    return end > 1;
  };
  const bool permits = is.wants == ':';
  if (permits && !take_number(":", &is.permits)) return std::nullopt;
  if (!take_number(permits ? "-" : "-+", nullptr)) return std::nullopt;
  if (!rest.empty() && rest.front() != ' ') return std::nullopt;
  is.label = rest.substr(rest.empty() ? 0 : 1);
  return is;
}

std::optional<std::string_view> label_in(std::string_view value) {
  const std::optional<owner_reading> read = owner_reading::of(value);
  return read ? std::optional(read->label) : std::nullopt;
}

}  // namespace holdfast::redis
