#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/protocol/value.hpp"

struct lua_State;

namespace holdfast::sim {

/// Scripts as a Redis server runs them: Lua 5.1, redis.call(), KEYS and ARGV, and Redis' rules for turning values of
/// Lua into replies and back. A script that fails half-way keeps its effects.
class redis_lua {
 public:
  using words = std::vector<std::string>;
  using commands = std::function<redis::value(const words&)>;

  explicit redis_lua(commands);
  ~redis_lua();
  redis_lua(const redis_lua&) = delete;
  redis_lua& operator=(const redis_lua&) = delete;

  /// Returns the error in the script, or nothing if the script is now in the cache.
  [[nodiscard]] std::optional<std::string> load(const std::string& sha, std::string text);
  [[nodiscard]] bool knows(const std::string& sha) const { return cache_.contains(sha); }
  [[nodiscard]] redis::value run(const std::string& sha, const words& keys, const words& args);
  void flush();

 private:
  static int call(lua_State*);
  static bool call_pushes_error(lua_State*);
  const commands commands_;
  lua_State* const state_;
  std::map<std::string, int> cache_;  // references to functions in Lua's registry
};

}  // namespace holdfast::sim
