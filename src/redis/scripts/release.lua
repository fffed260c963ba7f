#!lua flags=allow-oom
-- Gives the lock back, or leaves the queue, and hands the lock on. Whoever gives up need not know whether it was
-- granted meanwhile.
-- KEYS  K  K:q  K:f  K:h
-- ARGV  owner  inboxes (how their channels begin)
-- 1 it was ours, 2 left the queue, 0 neither; and 4 more: call again, there is more to hand on
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
--@give_back
