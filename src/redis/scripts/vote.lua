#!lua
-- Asks one of several servers for its vote: the whole lock, if it is free here. Nobody stands in a queue for it: who
-- gets a no, and waits, is only told when it is free again, the one that waits longest first.
-- KEYS  K  K:f  K:q
-- ARGV  owner (of this attempt)  ttl  proposed fence (its clock in us)  waiter ('': tell nobody)  since (us)
-- yes   the first of 64 fences
-- no    {ms until the holder's lease ends, holder, the server's time in us}
local call, K, F, Q, proposed, waiter = redis.call, KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[3]), ARGV[4]
local holder = call('GET', K)
--@clock
if holder then
  if waiter ~= '' then
    call('ZADD', Q, ARGV[5], waiter)
    call('PEXPIRE', Q, '10000') -- it asks again long before
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
