#!lua
-- Changes how many permits there are; what is held stays held. A semaphore that nobody uses has no size to change.
-- KEYS  K  K:q  K:f  K:h
-- ARGV  inboxes (how their channels begin)  how many there are
-- 0 done; 4 call again, there is more to serve
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
