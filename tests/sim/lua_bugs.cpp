#include "sim/lua_bugs.hpp"

#include <string_view>

#include "planted.hpp"

namespace holdfast::sim {

namespace {

struct lua_bug {
  bug what;
  std::string_view right, wrong;
};

constexpr lua_bug lua_bugs[] = {
    {bug::release_of_anybody, "if did ~= 1 and holder then return did end", "did = 1"},
    {bug::no_adoption, "if holder == me then", "if false then"},
    {bug::dead_not_skipped, "message) > 0", "message) >= 0"},
    {bug::fence_without_floor,
     "local last = tonumber(call('SET', F, now + 63, 'EX', '86400', 'GET') or 0)\n  if last < now then return now end",
     "local last = tonumber(call('GET', F) or 0)"},
    {bug::renew_creates, "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end",
     "if (redis.call('GET', KEYS[1]) or ARGV[1]) ~= ARGV[1] then return 0 end\n"
     "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end"},
    {bug::place_lost_by_poll, "local ticket = tonumber(ARGV[4])\n", "local ticket\ncall('ZREM', Q, me)\n"},
    {bug::release_keeps_it, "local waiter = call('ZPOPMIN', Q)[1]\n", "local waiter\n"},
    {bug::poll_shortens, "if holder == me then\n  call('PEXPIRE', K, ARGV[2], 'GT')",
     "if holder == me then\n  call('PEXPIRE', K, ARGV[2])"},
    {bug::barging, "if not holder and call('EXISTS', Q) == 0 then", "if not holder then"},
    {bug::keys_for_ever, ", 'EX', '86400'", ""},
};

}  // namespace

std::string with_planted_bug(std::string script) {
  for (const lua_bug& b : lua_bugs) {
    if (!planted(b.what)) continue;
    for (std::size_t at = 0; (at = script.find(b.right, at)) != std::string::npos; at += b.wrong.size()) {
      script.replace(at, b.right.size(), b.wrong);
    }
  }
  return script;
}

bool is_in_lua(bug b) noexcept {
  for (const lua_bug& l : lua_bugs) {
    if (l.what == b) return true;
  }
  return false;
}

}  // namespace holdfast::sim
