#!lua flags=allow-oom
-- Same as release, but leaves the lock free for the next caller and only notifies the first waiter.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, channel prefix
-- Returns the same as release.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
if call('GET', K) == me and call('EXISTS', Q) == 1 then
  call('DEL', K)
--@clock
--@tell
  for _ = 1, 64 do
    local waiter = call('ZRANGE', Q, '0', '0')[1]
    if not waiter or tell(waiter, 0) then return 1 end
    call('ZREM', Q, waiter)
  end
  return 5
end
--@give_back
