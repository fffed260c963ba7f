#include "redis/protocol/keys.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "redis/protocol/slots.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view default_prefix = "holdfast:";

/// Injective, and without characters that would move the key to another slot.
void append_encoded(std::string& safe, std::string_view name) {
  constexpr char hex[] = "0123456789ABCDEF";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '{' || c == '}' || c == '%') {
      safe.append({'%', hex[byte >> 4], hex[byte & 15]});
    } else {
      safe.push_back(c);
    }
  }
}

std::string encoded(std::string_view name) {
  std::string safe;
  append_encoded(safe, name);
  return safe;
}

/// Returns the prefix of the keys that belong to a K that is a name without encoding.
std::string base_of(std::string_view key) {
  const std::size_t open = key.find('{');
  const std::size_t close = open == std::string_view::npos ? open : key.find('}', open + 1);
  std::string base(default_prefix);
  if (close != std::string_view::npos && close > open + 1) return base.append(key).append(";");  // K has a hash tag
  if (key.find('}') == std::string_view::npos) return base.append("{").append(key).append("}:");
  return base.append("{").append(tag_of(slot_of(key))).append("}").append(key).append("!");
}

/// Returns nothing if no name is encoded in that way.
std::optional<std::string> decoded(std::string_view safe) {
  std::string name;
  for (std::size_t at = 0; at < safe.size(); ++at) {
    unsigned byte = static_cast<unsigned char>(safe[at]);
    if (safe[at] == '%') {
      const std::string_view digits = safe.substr(at + 1, 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
      at += 2;
    }
    name.push_back(static_cast<char>(byte));
  }
  if (encoded(name) != safe) return std::nullopt;
  return name;
}

/// Returns the prefix of the keys that belong to K.
std::string companions_of(std::string_view prefix, std::string_view lock) {
  if (prefix.empty()) return base_of(lock);
  std::string base;
  base.reserve(lock.size() + 1);
  return base.append(lock).append(":");
}

}  // namespace

std::string lock_key(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return std::string(name);
  std::string key;
  key.reserve(prefix.size() + name.size() + 2);
  key.append(prefix).append("{");
  append_encoded(key, name);
  return key.append("}");
}

storage::failure keys::refused() {
  return {errc::bad_name, "without a prefix no name may begin with holdfast: since our own keys do"};
}

bool keys::may_be(std::string_view prefix, std::string_view name) noexcept {
  return !prefix.empty() || !name.starts_with(default_prefix);
}

keys keys::of_lock(std::string_view prefix, std::string_view lock) {
  keys k;
  const std::string base = companions_of(prefix, lock);
  const std::pair<std::string_view keys::*, companion> others[] = {{&keys::queue, companions::queue},
                                                                   {&keys::fence, companions::fence},
                                                                   {&keys::holders, companions::holders},
                                                                   {&keys::asked, companions::asked},
                                                                   {&keys::broken, companions::broken}};
  auto texts = std::make_unique_for_overwrite<char[]>(lock.size() + std::size(others) * (base.size() + 1));
  char* end = texts.get();
  const auto write = [&](std::string_view text) { end = std::copy(text.begin(), text.end(), end); };
  k.lock = std::string_view(end, lock.size());
  write(lock);
  for (const auto& [member, is] : others) {
    k.*member = std::string_view(end, base.size() + 1);
    write(base);
    *end++ = is.letter;
  }
  k.texts = std::move(texts);
  return k;
}

std::string pattern_of_locks(std::string_view prefix, std::string_view beginning) {
  const std::string as_it_is =
      prefix.empty() ? std::string(beginning) : std::string(prefix).append("{").append(encoded(beginning));
  std::string pattern;
  for (const char c : as_it_is) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern.append(prefix.empty() ? "*" : "*[}q]");  // K ends with a brace, its queue with a q
}

std::optional<std::string> name_in(std::string_view prefix, std::string_view key) {
  if (prefix.empty()) {
    if (!keys::may_be(prefix, key)) return std::nullopt;
    return std::string(key);
  }
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  const std::size_t end = key.find('}');
  if (!key.starts_with('{') || end == std::string_view::npos) return std::nullopt;
  const std::string_view behind = key.substr(end + 1);
  if (!behind.empty() && behind != ":q") return std::nullopt;
  return decoded(key.substr(1, end - 1));
}

cell_keys::cell_keys(std::string_view prefix, std::string_view name) {
  const std::string base = companions_of(prefix, lock_key(prefix, name));
  number = base + companions::number.letter;
  watchers = base + companions::watchers.letter;
}

std::string inboxes(std::string_view prefix) {
  return std::string(prefix.empty() ? default_prefix : prefix).append("in:");
}

std::string inboxes_at(std::string_view all, std::uint16_t slot) {
  return std::string(all).append("{").append(tag_of(slot)).append("}");
}

std::string client_record(std::string_view prefix, std::string_view inbox) {
  return std::string(prefix.empty() ? default_prefix : prefix).append("client:").append(inbox);
}

}  // namespace holdfast::redis
