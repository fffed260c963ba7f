#include "sim/redis_keys.hpp"

#include <algorithm>

#include "sim/redis_words.hpp"

namespace holdfast::sim {

using redis::value;

namespace {

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

// ---- keys
// ---------------------------------------------------------------------------------------------------------------

struct redis_keys::command {
  const char* name;
  std::size_t fewest_words;
  value (redis_keys::*run)(const words&, wall_time);
};

const redis_keys::command redis_keys::commands[] = {
    {"GET", 2, &redis_keys::get},         {"GETRANGE", 4, &redis_keys::getrange},
    {"MGET", 2, &redis_keys::mget},       {"SET", 3, &redis_keys::set},
    {"DEL", 2, &redis_keys::del},         {"EXISTS", 2, &redis_keys::exists},
    {"PEXPIRE", 3, &redis_keys::pexpire}, {"PEXPIREAT", 3, &redis_keys::pexpire},
    {"PTTL", 2, &redis_keys::pttl},       {"TIME", 1, &redis_keys::time},
    {"ZADD", 4, &redis_keys::zadd},       {"ZREM", 3, &redis_keys::zrem},
    {"ZRANGE", 4, &redis_keys::zrange},   {"ZCARD", 2, &redis_keys::zcard},
    {"ZRANK", 3, &redis_keys::zrank},     {"ZSCORE", 3, &redis_keys::zscore},
    {"ZPOPMIN", 2, &redis_keys::zpopmin}, {"ZREMRANGEBYRANK", 4, &redis_keys::zremrangebyrank},
    {"ZSCAN", 3, &redis_keys::zscan},
};

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

/// From the beginning, which is all that we ask for.
value redis_keys::getrange(const words& w, wall_time now) {
  if (w[2] != "0" || integer(w[3]) < 0) throw syntax;
  const value all = get(w, now);
  return text(all.text.substr(0, static_cast<std::size_t>(integer(w[3])) + 1));
}

value redis_keys::mget(const words& w, wall_time now) {
  std::vector<value> all;
  for (std::size_t n = 1; n < w.size(); ++n) {
    const entry* const e = find(w[n], now);
    all.push_back(e != nullptr && std::holds_alternative<std::string>(e->what) ? text(std::get<std::string>(e->what))
                                                                               : nothing());
  }
  return list(std::move(all));
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
  std::int64_t gone = 0;
  for (std::size_t n = 1; n < w.size(); ++n) {
    if (find(w[n], now) != nullptr) gone += static_cast<std::int64_t>(keys_.erase(w[n]));
  }
  return number(gone);
}

value redis_keys::exists(const words& w, wall_time now) {
  return number(std::count_if(w.begin() + 1, w.end(), [&](const auto& key) { return find(key, now) != nullptr; }));
}

/// PEXPIRE takes a duration from now, PEXPIREAT a point in time.
value redis_keys::pexpire(const words& w, wall_time now) {
  const std::int64_t ends = (w[0] == "PEXPIRE" ? now.ms() : 0) + integer(w[2]);
  if (w.size() > 4 || (w.size() == 4 && w[3] != "GT")) throw refusal{"ERR Unsupported option"};
  entry* const e = find(w[1], now);
  if (e == nullptr) return number(0);
  // GT treats a key without expiry as one that expires later than any other.
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

std::map<std::string, std::int64_t> redis_keys::scores_of(const std::string& key, wall_time now) const {
  std::map<std::string, std::int64_t> scores;
  const entry* const e = look(key, now);
  if (e == nullptr || !std::holds_alternative<sorted_set>(e->what)) return scores;
  for (const auto& [score, member] : std::get<sorted_set>(e->what).in_order()) {
    scores[member] = static_cast<std::int64_t>(score);
  }
  return scores;
}

std::vector<std::string> redis_keys::all(wall_time now) const {
  std::vector<std::string> found;
  for (const auto& [key, e] : keys_) {
    if (look(key, now) != nullptr) found.push_back(key);
  }
  return found;
}

}  // namespace holdfast::sim
