#include "redis/doctor/leftovers.hpp"

#include <algorithm>
#include <iterator>

#include "redis/protocol/keys.hpp"

namespace holdfast::redis {

namespace {

/// As a word of the shell, and as a pattern: a name may have anything in it.
std::string shell_quoted(std::string_view key) {
  std::string word = "'";
  for (const char c : key) word.append(c == '\'' ? "'\\''" : std::string(1, c));
  return word + "'";
}

/// The first of them, and how many there are besides.
std::string some_of(const std::vector<std::string>& keys) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t n = 0; n < std::min(keys.size(), shown); ++n) text += (n == 0 ? "" : " ") + shell_quoted(keys[n]);
  return text;
}

std::string and_more(const std::vector<std::string>& keys) {
  return keys.size() > 3 ? " and " + std::to_string(keys.size() - 3) + " more" : "";
}

const char* has(const std::vector<std::string>& keys) { return keys.size() == 1 ? " has" : " have"; }

}  // namespace

std::string leftovers::pattern() const {
  std::string text;
  for (const char c : beginning()) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  return text + "*";
}

/// K itself, and no companion. Encoded names have no braces, so the last one ends it.
bool leftovers::is_lock(std::string_view key) const {
  return !prefix_.empty() && key.substr(beginning().size()).starts_with('{') && key.ends_with('}');
}

std::optional<std::string_view> leftovers::type_of(std::string_view key) const {
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

void leftovers::add(const std::string& key, std::string_view type, std::int64_t left) {
  const std::optional<std::string_view> wanted = type_of(key);
  if (!wanted || left == gone || type == "none") return;
  ++looked_at_;
  if (type != *wanted) {
    foreign_.push_back(key);
  } else if (left == no_end) {
    (is_lock(key) ? locks_ : others_).push_back(key);
  }
}

void leftovers::judge(bool all, storage::findings& found) const {
  const std::string many = std::to_string(looked_at_) + (looked_at_ == 1 ? " key" : " keys");
  if (!all) {
    found.note("redis.keys", "Only " + many + " of ours were looked at, and there are more, or more of others.",
               "One that was not looked at may have no end.",
               "Look through the rest: redis-cli --scan --pattern " + shell_quoted(pattern()));
  } else if (locks_.empty() && others_.empty() && foreign_.empty()) {
    found.fine("redis.keys", many + " of ours were looked at, and each is of its type and has its end.");
  }
  if (!locks_.empty()) {
    found.danger(
        "redis.lock_without_end",
        "Of " + many + " that were looked at, " + some_of(locks_) + and_more(locks_) + has(locks_) + " no ttl.",
        "Nobody gets such a lock any more, unless its holder lives and renews it.",
        "When nobody works under it: redis-cli DEL " + some_of(locks_));
  }
  if (!others_.empty()) {
    found.warning(
        "redis.key_without_end",
        "Of " + many + " that were looked at, " + some_of(others_) + and_more(others_) + has(others_) + " no ttl.",
        "Something else than Holdfast has changed it; it stays for ever if its lock is not used again.",
        "redis-cli PEXPIRE " + shell_quoted(others_.front()) + " 86400000");
  }
  if (!foreign_.empty()) {
    found.warning("redis.foreign_key",
                  some_of(foreign_) + and_more(foreign_) + has(foreign_) + " another type than ours.",
                  "Whoever asks for that lock gets the error foreign.",
                  "Choose another prefix= in the URL, or, when nobody needs it: redis-cli DEL " + some_of(foreign_));
  }
}

}  // namespace holdfast::redis
