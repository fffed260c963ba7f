#!lua flags=allow-oom
-- Releases permits, or leaves the queue, and grants permits to waiters.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, channel prefix
-- Returns the same as release.
local call, K, Q, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[4], ARGV[1], ARGV[2]
local state = call('GET', K)
if not state then return call('ZREM', Q, me) * 2 end
--@permits
--@clock
local mine
--@serve
local did = call('ZREM', H, me)
if did == 1 then
  used = used - wants(me)
else
  did = call('ZREM', Q, me) * 2
end
me = nil
local more = false
if call('EXISTS', Q) == 1 then
  more = reap()
  more = serve() or more
end
if used > 0 or call('EXISTS', Q) == 1 then
  save()
else
  call('DEL', K, H)
end
return more and did + 4 or did
