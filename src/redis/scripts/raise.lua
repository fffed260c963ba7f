#!lua flags=allow-oom
-- Redlock: stores the fence that a majority of the servers knows, so that the next one here is above its block of 64. With
-- a ttl, a holder that a majority has renewed gets the lock back if this server has lost it or never had it, unless the lock
-- was broken here: a break goes from server to server.
--
-- KEYS: lock, fence counter, queue, break record (optional)
-- ARGV: owner, fence, ttl in ms (optional), waiter (with the ttl)
-- Returns 1 if the owner holds the lock here, else 0.
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
