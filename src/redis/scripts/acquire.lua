#!lua
-- Asks for the lock. Asking again keeps the place in the queue, or adopts what was granted meanwhile.
-- KEYS  K  K:q  K:f
-- ARGV  owner  ttl  inboxes (how their channels begin)  ticket ('' none yet, '-' do not queue)
-- yes   the first of 64 fences
-- no    {ms until the holder's lease ends, ticket, how many are before us, server time in us, holder, last fence}
local call, K, Q, F, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[3]
local holder = call('GET', K)
--@clock
--@mint
if not holder and call('EXISTS', Q) == 0 then
  local fence = mint()
  call('SET', K, me, 'PX', ARGV[2]) -- last, so that an error before it leaves nothing held
  return fence
end
if holder == me then
  call('PEXPIRE', K, ARGV[2], 'GT')
  local last = tonumber(call('GET', F) or 0)
  return last > 63 and last - 63 or mint()
end
local mine
--@hand
local ticket = tonumber(ARGV[4])
if not holder or ARGV[4] ~= '-' then
  -- A place in the queue: the one we had, or the last.
  if not ticket then
    local last = call('ZRANGE', Q, '-1', '-1', 'WITHSCORES')[2]
    ticket = math.max(now, (tonumber(last) or 0) + 1)
  end
  if call('ZADD', Q, 'NX', ticket, me) == 1 then
    call('PEXPIRE', Q, '86400000')
  else
    ticket = tonumber(call('ZSCORE', Q, me))
  end
end
if not holder then
  hand()
  if mine then
    call('PEXPIRE', K, ARGV[2], 'GT')
    return mine
  end
  if ARGV[4] == '-' then call('ZREM', Q, me) end
  holder = call('GET', K) or ''
end
local ahead = ARGV[4] ~= '-' and call('ZRANK', Q, me) or -1
return { call('PTTL', K), ticket or -1, ahead, now, holder, tonumber(call('GET', F) or 0) }
