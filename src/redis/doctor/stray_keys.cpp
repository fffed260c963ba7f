#include "redis/doctor/stray_keys.hpp"

#include <algorithm>
#include <iterator>

#include "redis/protocol/keys.hpp"

namespace holdfast::redis {

namespace {

/// Quotes a key for the shell; a name may contain any character.
std::string shell_quoted(std::string_view key) {
  std::string word = "'";
  for (const char c : key) word.append(c == '\'' ? "'\\''" : std::string(1, c));
  return word + "'";
}

constexpr std::size_t most_shown = 3;

std::string first_of(const std::vector<std::string>& keys) {
  std::string text;
  for (std::size_t n = 0; n < std::min(keys.size(), most_shown); ++n) {
    text += (n == 0 ? "" : " ") + shell_quoted(keys[n]);
  }
  return text;
}

/// The keys as the subject of a sentence, and its verb.
std::string these_have(const std::vector<std::string>& keys) {
  const std::string more =
      keys.size() > most_shown ? " and " + std::to_string(keys.size() - most_shown) + " more" : std::string();
  return first_of(keys) + more + (keys.size() == 1 ? " has" : " have");
}

}  // namespace

std::string stray_keys::pattern() const {
  std::string text;
  for (const char c : beginning()) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  return text + "*";
}

/// Whether the key is K itself and not one that belongs to it. Encoded names have no braces, so the last brace ends K.
bool stray_keys::is_lock(std::string_view key) const {
  return !prefix_.empty() && key.substr(beginning().size()).starts_with('{') && key.ends_with('}');
}

std::optional<std::string_view> stray_keys::type_of(std::string_view key) const {
  if (!key.starts_with(beginning())) return std::nullopt;
  const std::string_view rest = key.substr(beginning().size());
  if (rest.starts_with("client:") || is_lock(key)) return "string";
  if (rest.size() < 4 || rest.find('{') == std::string_view::npos) return std::nullopt;
  const std::string_view marks = prefix_.empty() ? ":;!" : ":";
  const char mark = rest[rest.size() - 2];
  const bool closes = !prefix_.empty() || mark == ':' ? rest[rest.size() - 3] == '}' : true;
  if (marks.find(mark) == std::string_view::npos || !closes) return std::nullopt;
  const auto* const is = std::ranges::find(companions::all, rest.back(), &companion::letter);
  if (is == std::end(companions::all)) return std::nullopt;
  return is->type;
}

void stray_keys::add(const std::string& key, std::string_view type, std::int64_t left) {
  const std::optional<std::string_view> wanted = type_of(key);
  if (!wanted || left == gone || type == "none") return;
  ++looked_at_;
  if (type != *wanted) {
    foreign_.push_back(key);
  } else if (left == no_end) {
    (is_lock(key) ? locks_ : others_).push_back(key);
  }
}

server_info stray_keys::facts(bool all) const {
  server_info k;
  const bool good = locks_.empty() && others_.empty() && foreign_.empty();
  k.set("all_keys_seen", all ? "yes" : "no");
  k.set("all_keys_good", all && good ? "yes" : "no");
  k.set("keys", std::to_string(looked_at_) + (looked_at_ == 1 ? " key" : " keys"));
  k.set("key_pattern", shell_quoted(pattern()));
  if (!locks_.empty()) k.set("locks_without_end", these_have(locks_));
  k.set("first_locks_without_end", first_of(locks_));
  if (!others_.empty()) {
    k.set("keys_without_end", these_have(others_));
    k.set("first_key_without_end", shell_quoted(others_.front()));
  }
  if (!foreign_.empty()) k.set("foreign_keys", these_have(foreign_));
  k.set("first_foreign_keys", first_of(foreign_));
  return k;
}

}  // namespace holdfast::redis
