#!lua
-- Asks for the whole lock. Asking again keeps the place in the queue, or adopts what was granted meanwhile.
-- KEYS  K  K:q  K:f  K:h
-- ARGV  owner  ttl  inboxes (how their channels begin)  ticket ('' none yet, '-' do not queue)  [barge: whoever waits]
-- yes   the first of 64 fences
-- no    {ms until the holder's lease ends, ticket, how many are before us, server time in us, holder, last fence}
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3]
local holder = call('GET', K)
--@clock
--@mint
if not holder and (call('EXISTS', Q) == 0 or ARGV[5]) then
  local fence = mint()
  if ARGV[5] then call('ZREM', Q, me) end
  call('SET', K, me, 'PX', ARGV[2]) -- last, so that an error before it leaves nothing held
  return fence
end
if holder == me then
  call('PEXPIRE', K, ARGV[2], 'GT')
  local last = tonumber(call('GET', F) or 0)
  return last > 63 and last - 63 or mint()
end
--@session
local mine
--@hand
--@stand
local ticket, new = -1, false
if not holder or ARGV[4] ~= '-' then ticket, new = stand(ARGV[4]) end
if not holder then
  call('DEL', H) -- of readers who died
  hand()
  if mine then
    call('PEXPIRE', K, ARGV[2], 'GT')
    return mine
  end
  if new and ARGV[4] == '-' then call('ZREM', Q, me) end
elseif session then
  admit(session)
end
--@busy
