#!lua flags=allow-oom
-- Releases the lock and hands it to the next waiter, or leaves the queue. A caller that gives up does not have to know
-- whether it was granted the lock meanwhile.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, channel prefix
-- Returns 1 if the lock was released, 2 if the owner left the queue, 0 if neither. 4 is added if the caller must call again
-- because more waiters have to be served.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
--@give_back
