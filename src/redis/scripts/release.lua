#!lua flags=allow-oom
-- Gives the lock back, or leaves the queue, and hands the lock on. Whoever gives up need not know whether it was
-- granted meanwhile.
-- KEYS  K  K:q  K:f
-- ARGV  owner  inboxes (how their channels begin)
-- 1 it was ours, 2 left the queue, 0 neither; and 4 more: call again, there is more to hand on
local call, K, Q, F, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local holder = call('GET', K)
local did = holder == me and 1 or call('ZREM', Q, me) * 2
if did ~= 1 and holder then return did end
local waiter = call('ZPOPMIN', Q)[1]
if not waiter then
  if did == 1 then call('DEL', K) end
  return did
end
me = nil
local mine
--@clock
--@mint
--@hand
return hand(waiter) and did + 4 or did
