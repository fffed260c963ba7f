#include "holdfast/redis_fence_gate.hpp"

#include <string_view>

namespace holdfast {

namespace {

/// Sets `admitted` to whether the gate admits this fence, and remembers the fence if so.
constexpr std::string_view gate = R"lua(
local fence, highest = ARGV[1], redis.call('GET', KEYS[2]) or '0'
local function is_number(text) return #text <= 20 and text:find('^[1-9]%d*$') ~= nil end
if not is_number(fence) then return redis.error_reply('ERR ARGV[1] is no fence') end
if highest ~= '0' and not is_number(highest) then return redis.error_reply('ERR no fence is in KEYS[2]') end
-- By their digits: a number of Lua is exact up to 2^53 only.
local admitted = #fence > #highest or (#fence == #highest and fence >= highest)
if admitted and fence ~= highest then redis.call('SET', KEYS[2], fence) end
)lua";

}  // namespace

const std::string& redis_fence_gate::set() {
  static const std::string script = std::string(gate) + R"lua(
if not admitted then return 0 end
if ARGV[2] then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('DEL', KEYS[1]) end
return 1
)lua";
  return script;
}

const std::string& redis_fence_gate::get() {
  static const std::string script = std::string(gate) + R"lua(
if not admitted then return {0} end
return {1, redis.call('GET', KEYS[1])}
)lua";
  return script;
}

}  // namespace holdfast
