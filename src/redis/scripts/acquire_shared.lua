#!lua
-- Acquires the lock for a reader. All readers that hold it at the same time share a fence. After a failover no reader joins
-- the others until one of them has called again: they may have left, and a writer may have had a higher fence.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, ttl in ms, channel prefix, ticket ('' on the first call, '-' to return instead of queueing)
-- Returns the fence, or the same list as acquire.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3]
local holder = call('GET', K)
--@clock
--@mint
--@session
local mine
--@hand
if not history() then call('INFO', 'replication') end -- its error names the missing permission
local open = session and confirm(me)
if session and not open then
  if call('PTTL', K) > 0 then
    call('ZREM', H, me) -- its lease has expired, so it enters as a new reader
  else -- all leases have expired
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
  call('DEL', H) -- expired readers
  hand()
end
if mine then
  session = mine
  return enter(mine)
end
if new and ARGV[4] == '-' then call('ZREM', Q, me) end
--@busy
