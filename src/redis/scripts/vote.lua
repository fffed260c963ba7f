#!lua
-- Redlock: asks one server for its vote; a client that has the votes of a majority holds the lock. The queue reserves
-- no turn: when the vote is free again, the first live waiter is only notified.
--
-- KEYS: lock, fence counter, queue
-- ARGV: owner (of this attempt), ttl in ms, proposed fence (the client's clock in us), waiter ('' for no notification), time
--       in us since which it waits
-- Returns the first of 64 fences, or {ms until the holder's lease ends, holder, server time in us}.
local call, K, F, Q, proposed, waiter = redis.call, KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[3]), ARGV[4]
local holder = call('GET', K)
--@clock
if holder then
  if waiter ~= '' then
    call('ZADD', Q, ARGV[5], waiter)
    call('PEXPIRE', Q, '10000') -- it asks again well before that
  end
  return { call('PTTL', K), holder, now }
end
if proposed > now + 86400000000 then
  return redis.error_reply('HFCLOCK the clock of this client is more than a day ahead of the server\'s')
end
local fence = math.max(tonumber(call('GET', F) or 0) + 1, proposed)
call('SET', F, string.format('%.0f', fence + 63), 'EX', '86400')
if waiter ~= '' then call('ZREM', Q, waiter) end
call('SET', K, ARGV[1], 'PX', ARGV[2]) -- last, so that an error before it leaves nothing held
return fence
