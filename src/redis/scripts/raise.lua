#!lua flags=allow-oom
-- Of several servers a majority knows this fence: the next one here will be above its block of 64. With a ttl, and if
-- nobody has the lock here, its holder gets it again: a majority has renewed it, and this server has lost it, or has
-- not heard of it. Not if it was taken from it here by force: a break goes from server to server.
-- KEYS  K  K:f  K:q  [K:b]
-- ARGV  owner  fence  [ttl  waiter]
-- 1 it is ours, 0 it is not
local call, K, F, Q, last = redis.call, KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[2]) + 63
local holder = call('GET', K)
if holder ~= ARGV[1] and (holder or not ARGV[3]) then return 0 end
if not holder and string.sub(call('GET', KEYS[4]) or '', 17, 32) == string.sub(ARGV[1], 18, 33) then return 0 end
local known = tonumber(call('GET', F) or 0)
call('SET', F, string.format('%.0f', math.max(known, last)), 'EX', '86400')
if not holder then
  call('ZREM', Q, ARGV[4])
  call('SET', K, ARGV[1], 'PX', ARGV[3])
elseif ARGV[3] then
  call('PEXPIRE', K, ARGV[3], 'GT')
end
return 1
