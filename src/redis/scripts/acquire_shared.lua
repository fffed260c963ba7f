#!lua
-- Asks for a share of the lock. All readers who are in at one time have one fence. After a failover nobody joins those
-- who are in until one of them has asked again: they may have left, and a writer have had a higher fence.
-- KEYS  K  K:q  K:f  K:h
-- ARGV  owner  ttl  inboxes (how their channels begin)  ticket ('' none yet, '-' do not queue)
-- yes   the fence      no    as in acquire
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3]
local holder = call('GET', K)
--@clock
--@mint
--@session
local mine
--@hand
if not history() then call('INFO', 'replication') end -- its error says which right is missing
local open = session and confirm(me)
if session and not open then
  if call('PTTL', K) > 0 then
    call('ZREM', H, me) -- its time is over, and it asks as a new one
  else -- the time of all of them is over
    call('DEL', K, H)
    holder, session = false, nil
  end
end
local function enter(fence)
  if not session then call('DEL', H) end
  call('ZADD', H, 'GT', math.floor(now / 1000) + ARGV[2], me)
  call('PEXPIRE', H, '86400000') -- and with every renewal
  if session then
    call('PEXPIRE', K, ARGV[2], 'GT')
  else
    confirm(me)
    call('SET', K, string.format('+%.0f', fence), 'PX', ARGV[2]) -- last, as in acquire
  end
  return fence
end
if (open or not holder) and call('EXISTS', Q) == 0 then return enter(session or mint()) end
if open and call('ZSCORE', H, me) then return enter(session) end
--@stand
local ticket, new = -1, false
if session or not holder or ARGV[4] ~= '-' then ticket, new = stand(ARGV[4]) end
if session then
  admit(session)
elseif not holder then
  call('DEL', H) -- of readers who died
  hand()
end
if mine then
  session = mine
  return enter(mine)
end
if new and ARGV[4] == '-' then call('ZREM', Q, me) end
--@busy
