#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "sim/redis_keys.hpp"
#include "sim/redis_words.hpp"

namespace holdfast::sim {

using redis::value;

namespace {

/// Formats a score as Redis does: without a fraction if it is an integer.
std::string score_text(double score) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (score == std::floor(score) && std::abs(score) < exact) return std::to_string(static_cast<std::int64_t>(score));
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", score);
  return digits;
}

/// One end of a range of scores. A parenthesis before it excludes it.
struct bound {
  explicit bound(const std::string& text)
      : open(text.starts_with("(")), at(score_in(text.substr(open ? 1 : 0), "ERR min or max is not a float")) {}
  [[nodiscard]] bool admits_above(double score) const { return open ? score > at : score >= at; }
  [[nodiscard]] bool admits_below(double score) const { return open ? score < at : score <= at; }
  bool open;
  double at;
};

/// A range of ranks. Negative ranks count from the end.
struct ranks {
  ranks(const std::string& from, const std::string& to, std::size_t of) : first(integer(from)), last(integer(to)) {
    const auto size = static_cast<std::int64_t>(of);
    if (first < 0) first = std::max<std::int64_t>(0, first + size);
    if (last < 0) last += size;
  }
  [[nodiscard]] bool contain(std::int64_t rank) const { return rank >= first && rank <= last; }
  std::int64_t first, last;
};

struct range_options {
  explicit range_options(const std::vector<std::string>& w) {
    for (std::size_t n = 4; n < w.size(); ++n) {
      if (w[n] == "BYSCORE") {
        by_score = true;
      } else if (w[n] == "WITHSCORES") {
        with_scores = true;
      } else if (w[n] == "LIMIT" && n + 2 < w.size()) {
        skip = integer(w[++n]);
        most = integer(w[++n]);
        limited = true;
      } else {
        throw syntax;
      }
    }
    if (limited && !by_score) {
      throw refusal{"ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"};
    }
    if (most < 0) most = std::numeric_limits<std::int64_t>::max();
  }
  bool by_score = false, with_scores = false, limited = false;
  std::int64_t skip = 0, most = -1;
};

}  // namespace

bool sorted_set::add(const std::string& member, double score) {
  const auto [at, added] = scores_.try_emplace(member, score);
  if (!added) {
    in_order_.erase({at->second, member});
    at->second = score;
  }
  in_order_.insert({score, member});
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

value redis_keys::zadd(const words& w, wall_time now) {
  bool only_new = false, only_old = false, only_greater = false;
  std::size_t at = 2;
  for (; at < w.size(); ++at) {
    bool* const option = w[at] == "NX"   ? &only_new
                         : w[at] == "XX" ? &only_old
                         : w[at] == "GT" ? &only_greater
                                         : nullptr;
    if (option == nullptr) break;
    *option = true;
  }
  if (w.size() < at + 2 || (w.size() - at) % 2 != 0) throw syntax;
  if (only_new && only_old) throw refusal{"ERR XX and NX options at the same time are not compatible"};
  if (only_new && only_greater) throw refusal{"ERR GT, LT, and/or NX options at the same time are not compatible"};
  for (std::size_t n = at; n < w.size(); n += 2) (void)score_in(w[n]);  // all or none
  sorted_set* s = find_set(w[1], now);
  std::int64_t added = 0;
  for (; at < w.size(); at += 2) {
    const double score = score_in(w[at]);
    const std::optional<double> was = s != nullptr ? s->score(w[at + 1]) : std::nullopt;
    if (was ? only_new || (only_greater && score <= *was) : only_old) continue;
    if (s == nullptr) s = &std::get<sorted_set>((keys_[w[1]] = entry{sorted_set(), std::nullopt}).what);
    added += s->add(w[at + 1], score) ? 1 : 0;
  }
  return number(added);
}

value redis_keys::zrem(const words& w, wall_time now) {
  sorted_set* const s = find_set(w[1], now);
  if (s == nullptr) return number(0);
  std::int64_t gone = 0;
  for (std::size_t n = 2; n < w.size(); ++n) gone += s->remove(w[n]) ? 1 : 0;
  if (s->in_order().empty()) keys_.erase(w[1]);
  return number(gone);
}

value redis_keys::zrange(const words& w, wall_time now) {
  const range_options options(w);
  const sorted_set* const s = find_set(w[1], now);
  const std::size_t size = s != nullptr ? s->in_order().size() : 0;
  std::function<bool(std::int64_t, double)> wanted;
  if (options.by_score) {
    wanted = [low = bound(w[2]), high = bound(w[3])](std::int64_t, double score) {
      return low.admits_above(score) && high.admits_below(score);
    };
  } else {
    wanted = [by_rank = ranks(w[2], w[3], size)](std::int64_t rank, double) { return by_rank.contain(rank); };
  }
  std::vector<value> found;
  if (s == nullptr) return list(std::move(found));
  std::int64_t rank = 0, skip = options.skip, most = options.most;
  for (const auto& [score, member] : s->in_order()) {
    if (!wanted(rank++, score) || skip-- > 0 || most-- <= 0) continue;
    found.push_back(text(member));
    if (options.with_scores) found.push_back(text(score_text(score)));
  }
  return list(std::move(found));
}

value redis_keys::zremrangebyrank(const words& w, wall_time now) {
  if (w.size() != 4) throw syntax;
  sorted_set* const s = find_set(w[1], now);
  const ranks gone(w[2], w[3], s != nullptr ? s->in_order().size() : 0);
  if (s == nullptr) return number(0);
  std::vector<std::string> members;
  std::int64_t rank = 0;
  for (const auto& [score, member] : s->in_order()) {
    if (gone.contain(rank++)) members.push_back(member);
  }
  for (const std::string& member : members) s->remove(member);
  if (s->in_order().empty()) keys_.erase(w[1]);
  return number(static_cast<std::int64_t>(members.size()));
}

/// Returns all members at once, as a server does for a small set.
value redis_keys::zscan(const words& w, wall_time now) {
  if (w[2] != "0" || (w.size() != 3 && (w.size() != 5 || w[3] != "COUNT"))) throw syntax;
  value all = zrange({"ZRANGE", w[1], "0", "-1", "WITHSCORES"}, now);
  return list({text("0"), std::move(all)});
}

value redis_keys::zcard(const words& w, wall_time now) {
  const sorted_set* const s = find_set(w[1], now);
  return number(s != nullptr ? static_cast<std::int64_t>(s->in_order().size()) : 0);
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

}  // namespace holdfast::sim
