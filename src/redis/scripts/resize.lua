#!lua
-- Changes the number of permits. Permits that are held stay held. An unused semaphore has no size to change.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: channel prefix, number of permits
-- Returns 0, or 4 if the caller must call again because more waiters have to be served.
local call, K, Q, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[4], nil, ARGV[1]
local state = call('GET', K)
if not state then return 0 end
--@permits
size = tonumber(ARGV[2])
--@clock
local mine
--@serve
local more = reap()
more = serve() or more
save()
return more and 4 or 0
