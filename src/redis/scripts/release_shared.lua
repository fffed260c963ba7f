#!lua flags=allow-oom
-- Releases the lock for a reader, or leaves the queue. The last reader hands the lock on.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, channel prefix
-- Returns the same as release.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
local holder = call('GET', K)
local session = holder and tonumber(string.match(holder, '^%+(%d+)$'))
local did = session and call('ZREM', H, me) or 0
if did == 0 then did = call('ZREM', Q, me) * 2 end
if not holder then call('DEL', H) end -- expired readers
if holder and not session then return did end
local last = session and tonumber(call('ZRANGE', H, '-1', '-1', 'WITHSCORES')[2] or 0)
if last == 0 then last = nil end -- only the entry of the history is left
if not last and call('EXISTS', Q) == 0 then
  call('DEL', K, H)
  return did
end
--@clock
local others = last and last * 1000 > now
if others and (did == 1 or call('EXISTS', Q) == 0) then
  if did == 1 then
    call('PEXPIREAT', K, last)
    call('PEXPIREAT', H, last + 1000) -- not before K; the next reader or renewal extends it
  end
  return did
end
me = nil
local mine
--@mint
--@hand
local more
if others then
  more = admit(session)
else
  call('DEL', H)
  more = hand()
end
return more and did + 4 or did
