#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "redis/protocol/value.hpp"

namespace holdfast::sim {

/// A Redis server's reading of its clock, in microseconds since 1970. Keys count it in whole milliseconds.
struct wall_time {
  std::int64_t us = 0;
  [[nodiscard]] std::int64_t ms() const noexcept { return us / 1000; }
};

/// Members by score, and by name where scores are equal.
class sorted_set {
 public:
  using ranked = std::pair<double, std::string>;
  bool add(const std::string& member, double score);  ///< returns false if it was there
  bool remove(const std::string& member);
  [[nodiscard]] std::optional<double> score(const std::string& member) const;
  [[nodiscard]] const std::set<ranked>& in_order() const noexcept { return in_order_; }

 private:
  std::set<ranked> in_order_;
  std::map<std::string, double> scores_;
};

/// The data of a Redis server, and those of its commands that our scripts use, with their semantics: a key lives
/// through its last millisecond, an empty set is gone, a command on a key of another type is refused.
class redis_keys {
 public:
  using words = std::vector<std::string>;
  /// Returns nothing for an unknown command.
  [[nodiscard]] std::optional<redis::value> carry_out(const words&, wall_time now);

  // Tests may read the following.
  struct cell {
    std::string value;
    std::optional<std::int64_t> ends;  ///< the last millisecond of its life
  };
  [[nodiscard]] std::optional<cell> text_at(const std::string& key, wall_time now) const;
  [[nodiscard]] std::vector<std::string> members_of(const std::string& key, wall_time now) const;  ///< in order
  [[nodiscard]] std::map<std::string, std::int64_t> scores_of(const std::string& key, wall_time now) const;
  [[nodiscard]] std::vector<std::string> all(wall_time now) const;
  void clear() { keys_.clear(); }

 private:
  struct entry {
    std::variant<std::string, sorted_set> what;
    std::optional<std::int64_t> ends;
  };
  struct command;
  static const command commands[];
  redis::value get(const words&, wall_time);
  redis::value getrange(const words&, wall_time);
  redis::value mget(const words&, wall_time);
  redis::value set(const words&, wall_time);
  redis::value del(const words&, wall_time);
  redis::value exists(const words&, wall_time);
  redis::value pexpire(const words&, wall_time);
  redis::value pttl(const words&, wall_time);
  redis::value time(const words&, wall_time);
  redis::value zadd(const words&, wall_time);
  redis::value zrem(const words&, wall_time);
  redis::value zrange(const words&, wall_time);
  redis::value zrank(const words&, wall_time);
  redis::value zcard(const words&, wall_time);
  redis::value zscan(const words&, wall_time);
  redis::value zscore(const words&, wall_time);
  redis::value zpopmin(const words&, wall_time);
  redis::value zremrangebyrank(const words&, wall_time);

  [[nodiscard]] const entry* look(const std::string& key, wall_time) const;
  [[nodiscard]] entry* find(const std::string& key, wall_time);  // drops it first if it has expired
  [[nodiscard]] sorted_set* find_set(const std::string& key, wall_time);
  std::map<std::string, entry> keys_;
};

/// A reply of that kind.
[[nodiscard]] redis::value nothing();
[[nodiscard]] redis::value number(std::int64_t);
[[nodiscard]] redis::value text(std::string);
[[nodiscard]] redis::value error(std::string);
[[nodiscard]] redis::value list(std::vector<redis::value>);

}  // namespace holdfast::sim
