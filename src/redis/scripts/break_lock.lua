#!lua flags=allow-oom
-- Breaks the lock: takes it from its holders by force and hands it on as a release does. The holders are notified, and their
-- next renewal fails. K:b records for a day who broke it:
-- `<id> <fence> <server time in us> <length of by> <by><reason>`.
--
-- KEYS: lock, queue, fence counter, holders, break record
-- ARGV: channel prefix, id of this call, fence ('0' for any), claim ('' for every holder with the fence), by, reason
-- Returns 1 if the lock was broken, now or by an earlier call with this id; 0 if there is no such holder; -1 if another
-- library holds it. 4 is added if the caller must call again: one call breaks at most 256 leases.
local call, K, Q, F, H, B, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1]
local fence, only = tonumber(ARGV[3]), ARGV[4]
local state = call('GET', K)
local session = state and tonumber(string.match(state, '^%+(%d+)$'))
local permits = state and string.find(state, '^#%d+:%d+:%d+$')
local before = string.sub(call('GET', B) or '', 1, 16) == ARGV[2]
local crowd = session == fence and only == '' -- all readers with this fence, over several calls
--@clock
local ms = math.floor(now / 1000)
local losers = {}
if not before or crowd then
  if not state or session and fence ~= 0 and fence ~= session or permits and only == '' then return 0 end
  local holders = { state }
  if session or permits then
    holders = call('ZRANGE', H, '(' .. ms, '+inf', 'BYSCORE', 'LIMIT', '0', crowd and '256' or '-1')
    fence = session or 0
  else
    local ids = string.sub(state, 1, 33)
    local ours = string.byte(ids, 17) == 46 and string.find(ids, '^[%w_-]+%.[%w_-]+$') and string.find(state, '^%-%d+', 34)
    if not ours then return -1 end
    local last = tonumber(call('GET', F) or 0)
    if fence ~= 0 and (fence > last or fence < last - 63) then return 0 end
    if fence == 0 then fence = math.max(last - 63, 0) end
  end
  for _, holder in ipairs(holders) do
    if only == '' or only == string.sub(holder, 18, 33) then losers[#losers + 1] = holder end
  end
  if not before then
    if #losers == 0 then return 0 end
    local note = string.format('%s %.0f %.0f %d %s%s', ARGV[2], fence, now, #ARGV[5], ARGV[5], ARGV[6])
    call('SET', B, note, 'PX', '86400000')
  end
end
for _, loser in ipairs(losers) do call('SPUBLISH', inboxes .. string.sub(loser, 1, 16), '!' .. loser) end
local me, mine
if permits then
--@permits
--@serve
  for _, loser in ipairs(losers) do used = used - wants(loser) * call('ZREM', H, loser) end
  local more = reap()
  more = serve() or more
  if used > 0 or call('EXISTS', Q) == 1 then
    save()
  else
    call('DEL', K, H)
  end
  return more and 5 or 1
end
if before and state and not session then return 1 end -- the lock was already handed on
--@mint
--@hand
if session then
  if #losers > 0 then call('ZREM', H, unpack(losers)) end
  local last = tonumber(call('ZRANGE', H, '-1', '-1', 'WITHSCORES')[2])
  if last and last > ms then -- other readers remain
    call('PEXPIREAT', K, last)
    call('PEXPIREAT', H, last + 1000) -- not before K, as in release_shared
    return (#losers == 256 or admit(session)) and 5 or 1
  end
  call('DEL', H)
end
local waiter = call('ZPOPMIN', Q)[1]
if not waiter then
  call('DEL', K)
  return 1
end
return hand(waiter) and 5 or 1
