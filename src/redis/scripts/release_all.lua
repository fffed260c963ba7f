#!lua flags=allow-oom
-- Releases several locks, or leaves their queues, and hands each on.
--
-- KEYS: for each lock: lock, queue, fence counter, holders
-- ARGV: channel prefix, the owner of each lock
-- Returns 1 if all were released, 2 if some owners only left a queue, 0 if some did neither. 4 is added as in release.
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
