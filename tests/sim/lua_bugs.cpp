#include "sim/lua_bugs.hpp"

#include <string_view>

#include "seeded_bugs.hpp"

namespace holdfast::sim {

namespace {

struct lua_bug {
  bug what;
  std::string_view right, wrong;
};

constexpr lua_bug lua_bugs[] = {
    {bug::release_of_anybody, "if did ~= 1 and holder and not session then return did end", "did = 1"},
    {bug::no_adoption, "if holder == me then", "if false then"},
    {bug::dead_not_skipped, "message) > 0", "message) >= 0"},
    {bug::fence_without_floor,
     "local last = tonumber(call('SET', F, now + 63, 'EX', '86400', 'GET') or 0)\n  if last < now then return now end",
     "local last = tonumber(call('GET', F) or 0)"},
    {bug::renew_creates, "if call('GET', K) ~= me then return 0 end",
     "if (call('GET', K) or me) ~= me then return 0 end\n"
     "if call('EXISTS', K) == 0 then call('SET', K, me, 'PX', ttl) end"},
    {bug::renewed_by_owner, " > ARGV[3] + 63 then return 2 end", " > math.huge then return 2 end"},
    {bug::lost_readers_joined, "return not says", "return true"},
    {bug::never_confirmed, "if here and reader and", "if not says and here and reader and"},
    {bug::place_lost_by_poll, "  ticket = tonumber(ticket)\n", "  ticket = nil\n  call('ZREM', Q, me)\n"},
    {bug::release_keeps_it, "  waiter = call('ZPOPMIN', Q)[1]\n", ""},
    {bug::poll_shortens, "if holder == me then\n  call('PEXPIRE', K, ARGV[2], 'GT')",
     "if holder == me then\n  call('PEXPIRE', K, ARGV[2])"},
    {bug::barging, "if not holder and (call('EXISTS', Q) == 0 or ARGV[5]) then", "if not holder then"},
    {bug::keys_for_ever, ", 'EX', '86400'", ""},
    {bug::readers_over_a_writer, "if (open or not holder) and call('EXISTS', Q) == 0", "if call('EXISTS', Q) == 0"},
    {bug::writer_over_readers, "local others = last and last * 1000 > now", "local others = false"},
    {bug::given_back_twice, "if did == 1 then\n  used = used - wants(me)\nelse",
     "used = math.max(0, used - wants(me))\nif did == 0 then"},
    {bug::reap_forgets, "for _, holder in ipairs(dead) do used = used - wants(holder) end", ""},
    {bug::fences_of_one_session_differ, "reads(waiter) and tell(waiter, fence)",
     "reads(waiter) and tell(waiter, fence + 1)"},
    {bug::downgrade_lets_go, "call('SET', K, fence, 'PX', left)", "call('DEL', K)"},
    {bug::renewal_of_a_later_session,
     "if call('GET', K) ~= '+' .. ARGV[3] or not call('ZSCORE', H, me) then return 0 end",
     "if string.byte(call('GET', K) or '-') ~= 43 then return 0 end"},
    {bug::dead_writer_keeps_readers_out, "if not reads(waiter) and (waiter == me or alive(waiter)) then break end",
     "if not reads(waiter) then break end"},
    {bug::dead_taker_keeps_others_out, "if not fits and (waiter == me or alive(waiter)) then break end",
     "if not fits then break end"},
    {bug::readers_barge, "if (open or not holder) and call('EXISTS', Q) == 0",
     "if open or not holder and call('EXISTS', Q) == 0"},
    {bug::takers_barge, "if used + k <= size and call('EXISTS', Q) == 0", "if used + k <= size"},
    {bug::holders_for_ever, "call('PEXPIRE', H, '86400000')", ""},
    {bug::downgrade_again_says_too_much, "if holder == fence then -- a repeated call: the lease counts from now",
     "if holder == fence then\nelseif false then"},
    {bug::refusal_loses_permits, "save()\n    return redis.error_reply", "return redis.error_reply"},
    {bug::asks_the_next, "local meant = call('ZSCORE', A, me)", "local meant = call('EXISTS', A) == 1 and '0'"},
    {bug::break_of_anybody, "if fence ~= 0 and (fence > last or fence < last - 63) then return 0 end", ""},
    {bug::broken_and_still_in, "call('ZREM', H, unpack(losers))", ""},
    {bug::break_forgotten, "call('SET', B, note, 'PX', '86400000')", ""},
    {bug::vote_taken_over, "if holder then\n  if waiter ~= ''", "if false then\n  if waiter ~= ''"},
    {bug::mend_takes_over, "if holder ~= ARGV[1] and (holder or not ARGV[3]) then return 0 end",
     "if ARGV[3] and holder ~= ARGV[1] then holder = nil end"},
    {bug::withdrawal_of_anybody, "local ours = holder == ARGV[1]", "local ours = holder"},
    {bug::taken_from_anybody, " or ARGV[4] ~= string.sub(holder, 18, 33)", ""},
    {bug::mended_after_a_break,
     "if not holder and string.sub(call('GET', KEYS[4]) or '', 17, 32) == string.sub(ARGV[1], 18, 33) then return 0 "
     "end",
     ""},
    {bug::deaf_poll_leaves, "if new and ARGV[4] == '-' then", "if ARGV[4] == '-' then"},
};

}  // namespace

std::string with_seeded_bug(std::string script) {
  for (const lua_bug& b : lua_bugs) {
    if (!seeded(b.what)) continue;
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
