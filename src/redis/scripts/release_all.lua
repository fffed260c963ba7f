#!lua flags=allow-oom
-- Gives several locks back, or leaves their queues, and hands each on.
-- KEYS  of each lock: K  K:q  K:f  K:h
-- ARGV  inboxes (how their channels begin)  the owner of each
-- as release, of all of them: 1 all were ours, 2 some only stood in a queue, 0 some neither; and 4 more
local call, inboxes = redis.call, ARGV[1]
local function release(K, Q, F, H, me)
--@give_back
end
local did, more = 1, 0
for n = 1, #KEYS / 4 do
  local one = release(KEYS[4 * n - 3], KEYS[4 * n - 2], KEYS[4 * n - 1], KEYS[4 * n], ARGV[n + 1])
  if one >= 4 then one, more = one - 4, 4 end
  if one == 0 or did == 1 then did = one end
end
return did + more
