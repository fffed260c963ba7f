#include "sim/redis_keys.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace holdfast::sim {

using redis::value;

namespace {

/// What a command says instead of a reply.
struct refusal {
  const char* words;
};
constexpr refusal wrong_type{"WRONGTYPE Operation against a key holding the wrong kind of value"};
constexpr refusal syntax{"ERR syntax error"};
constexpr refusal not_an_integer{"ERR value is not an integer or out of range"};

std::int64_t integer(const std::string& text) {
  std::int64_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc() || end != text.data() + text.size()) throw not_an_integer;
  return n;
}

double score_in(const std::string& text) {
  char* end = nullptr;
  const double score = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isnan(score)) throw refusal{"ERR value is not a valid float"};
  return score;
}

/// As Redis writes it: an integer where it is one.
std::string score_text(double score) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (score == std::floor(score) && std::abs(score) < exact) return std::to_string(static_cast<std::int64_t>(score));
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", score);
  return digits;
}

std::int64_t lifetime(const std::string& text, std::int64_t unit) {
  const std::int64_t n = integer(text);
  if (n <= 0) throw refusal{"ERR invalid expire time in 'set' command"};
  return n * unit;
}

}  // namespace

value nothing() { return {}; }

value number(std::int64_t n) {
  value v;
  v.what = value::kind::integer;
  v.number = n;
  return v;
}

value text(std::string words) {
  value v;
  v.what = value::kind::text;
  v.text = std::move(words);
  return v;
}

value error(std::string words) {
  value v;
  v.what = value::kind::error;
  v.text = std::move(words);
  return v;
}

value list(std::vector<value> items) {
  value v;
  v.what = value::kind::list;
  v.items = std::move(items);
  return v;
}

// ---- sorted sets
// ------------------------------------------------------------------------------------------------------

bool sorted_set::add(const std::string& member, double score, bool only_new) {
  const auto [at, added] = scores_.try_emplace(member, score);
  if (!added && !only_new) {
    in_order_.erase({at->second, member});
    at->second = score;
  }
  if (added || !only_new) in_order_.insert({score, member});
  return added;
}

bool sorted_set::remove(const std::string& member) {
  const auto at = scores_.find(member);
  if (at == scores_.end()) return false;
  in_order_.erase({at->second, member});
  scores_.erase(at);
  return true;
}

std::optional<double> sorted_set::score(const std::string& member) const {
  const auto at = scores_.find(member);
  return at == scores_.end() ? std::nullopt : std::optional(at->second);
}

// ---- keys
// ---------------------------------------------------------------------------------------------------------------

struct redis_keys::command {
  const char* name;
  std::size_t fewest_words;
  value (redis_keys::*run)(const words&, wall_time);
};

const redis_keys::command redis_keys::commands[] = {
    {"GET", 2, &redis_keys::get},        {"SET", 3, &redis_keys::set},         {"DEL", 2, &redis_keys::del},
    {"EXISTS", 2, &redis_keys::exists},  {"PEXPIRE", 3, &redis_keys::pexpire}, {"PTTL", 2, &redis_keys::pttl},
    {"TIME", 1, &redis_keys::time},      {"ZADD", 4, &redis_keys::zadd},       {"ZREM", 3, &redis_keys::zrem},
    {"ZRANGE", 4, &redis_keys::zrange},  {"ZRANK", 3, &redis_keys::zrank},     {"ZSCORE", 3, &redis_keys::zscore},
    {"ZPOPMIN", 2, &redis_keys::zpopmin}};

std::optional<value> redis_keys::carry_out(const words& w, wall_time now) {
  for (const command& c : commands) {
    if (w.front() != c.name) continue;
    if (w.size() < c.fewest_words) return error("ERR wrong number of arguments for '" + w.front() + "' command");
    try {
      return (this->*c.run)(w, now);
    } catch (const refusal& r) {
      return error(r.words);
    }
  }
  return std::nullopt;
}

const redis_keys::entry* redis_keys::look(const std::string& key, wall_time now) const {
  const auto at = keys_.find(key);
  if (at == keys_.end() || (at->second.ends && now.ms() > *at->second.ends)) return nullptr;
  return &at->second;
}

redis_keys::entry* redis_keys::find(const std::string& key, wall_time now) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return nullptr;
  if (look(key, now) == nullptr) {
    keys_.erase(at);
    return nullptr;
  }
  return &at->second;
}

sorted_set* redis_keys::find_set(const std::string& key, wall_time now) {
  entry* const e = find(key, now);
  if (e == nullptr) return nullptr;
  if (!std::holds_alternative<sorted_set>(e->what)) throw wrong_type;
  return &std::get<sorted_set>(e->what);
}

value redis_keys::get(const words& w, wall_time now) {
  const entry* const e = find(w[1], now);
  if (e == nullptr) return nothing();
  if (!std::holds_alternative<std::string>(e->what)) throw wrong_type;
  return text(std::get<std::string>(e->what));
}

value redis_keys::set(const words& w, wall_time now) {
  bool get_old = false;
  entry made{w[2], std::nullopt};
  for (std::size_t n = 3; n < w.size(); ++n) {
    if (w[n] == "GET") {
      get_old = true;
    } else if ((w[n] == "EX" || w[n] == "PX") && n + 1 < w.size()) {
      const std::int64_t unit = w[n] == "EX" ? 1000 : 1;
      made.ends = now.ms() + lifetime(w[++n], unit);
    } else {
      throw syntax;
    }
  }
  value old = get_old ? get({"GET", w[1]}, now) : text("OK");
  keys_.insert_or_assign(w[1], std::move(made));
  return old;
}

value redis_keys::del(const words& w, wall_time now) {
  if (find(w[1], now) == nullptr) return number(0);
  keys_.erase(w[1]);
  return number(1);
}

value redis_keys::exists(const words& w, wall_time now) { return number(find(w[1], now) != nullptr ? 1 : 0); }

value redis_keys::pexpire(const words& w, wall_time now) {
  const std::int64_t ends = now.ms() + integer(w[2]);
  if (w.size() > 4 || (w.size() == 4 && w[3] != "GT")) throw refusal{"ERR Unsupported option"};
  entry* const e = find(w[1], now);
  if (e == nullptr) return number(0);
  // What never ends is greater than any end.
  if (w.size() == 4 && (!e->ends || ends <= *e->ends)) return number(0);
  if (ends <= now.ms()) {
    keys_.erase(w[1]);
  } else {
    e->ends = ends;
  }
  return number(1);
}

value redis_keys::pttl(const words& w, wall_time now) {
  const entry* const e = find(w[1], now);
  if (e == nullptr) return number(-2);
  return number(e->ends ? std::max<std::int64_t>(0, *e->ends - now.ms()) : -1);
}

value redis_keys::time(const words& /*w*/, wall_time now) {
  return list({text(std::to_string(now.us / 1'000'000)), text(std::to_string(now.us % 1'000'000))});
}

value redis_keys::zadd(const words& w, wall_time now) {
  const bool only_new = w[2] == "NX";
  const std::size_t at = only_new ? 3 : 2;
  if (w.size() != at + 2) throw syntax;
  const double score = score_in(w[at]);
  sorted_set* s = find_set(w[1], now);
  if (s == nullptr) s = &std::get<sorted_set>((keys_[w[1]] = entry{sorted_set(), std::nullopt}).what);
  return number(s->add(w[at + 1], score, only_new) ? 1 : 0);
}

value redis_keys::zrem(const words& w, wall_time now) {
  sorted_set* const s = find_set(w[1], now);
  const bool gone = s != nullptr && s->remove(w[2]);
  if (gone && s->in_order().empty()) keys_.erase(w[1]);
  return number(gone ? 1 : 0);
}

value redis_keys::zrange(const words& w, wall_time now) {
  std::int64_t first = integer(w[2]), last = integer(w[3]);
  const bool with_scores = w.size() == 5 && w[4] == "WITHSCORES";
  if (w.size() > 4 && !with_scores) throw syntax;
  const sorted_set* const s = find_set(w[1], now);
  if (s == nullptr) return list({});
  const auto size = static_cast<std::int64_t>(s->in_order().size());
  if (first < 0) first = std::max<std::int64_t>(0, first + size);
  if (last < 0) last += size;
  std::vector<value> found;
  std::int64_t rank = 0;
  for (const auto& [score, member] : s->in_order()) {
    if (rank >= first && rank <= last) {
      found.push_back(text(member));
      if (with_scores) found.push_back(text(score_text(score)));
    }
    ++rank;
  }
  return list(std::move(found));
}

value redis_keys::zrank(const words& w, wall_time now) {
  const sorted_set* const s = find_set(w[1], now);
  const std::optional<double> score = s != nullptr ? s->score(w[2]) : std::nullopt;
  if (!score) return nothing();
  return number(std::distance(s->in_order().begin(), s->in_order().find({*score, w[2]})));
}

value redis_keys::zscore(const words& w, wall_time now) {
  const sorted_set* const s = find_set(w[1], now);
  const std::optional<double> score = s != nullptr ? s->score(w[2]) : std::nullopt;
  return score ? text(score_text(*score)) : nothing();
}

value redis_keys::zpopmin(const words& w, wall_time now) {
  if (w.size() != 2) throw syntax;
  sorted_set* const s = find_set(w[1], now);
  if (s == nullptr) return list({});
  const auto [score, member] = *s->in_order().begin();
  s->remove(member);
  if (s->in_order().empty()) keys_.erase(w[1]);
  return list({text(member), text(score_text(score))});
}

// ---- for tests
// ------------------------------------------------------------------------------------------------------------

std::optional<redis_keys::cell> redis_keys::text_at(const std::string& key, wall_time now) const {
  const entry* const e = look(key, now);
  if (e == nullptr || !std::holds_alternative<std::string>(e->what)) return std::nullopt;
  return cell{std::get<std::string>(e->what), e->ends};
}

std::vector<std::string> redis_keys::members_of(const std::string& key, wall_time now) const {
  std::vector<std::string> members;
  const entry* const e = look(key, now);
  if (e == nullptr || !std::holds_alternative<sorted_set>(e->what)) return members;
  for (const auto& [score, member] : std::get<sorted_set>(e->what).in_order()) members.push_back(member);
  return members;
}

std::vector<std::string> redis_keys::all(wall_time now) const {
  std::vector<std::string> found;
  for (const auto& [key, e] : keys_) {
    if (look(key, now) != nullptr) found.push_back(key);
  }
  return found;
}

}  // namespace holdfast::sim
