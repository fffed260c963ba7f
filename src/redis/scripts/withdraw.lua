#!lua flags=allow-oom
-- Redlock: takes back a vote that one server has given, or may have given. An attempt that failed notifies no waiter: clients
-- that block each other try again after pauses of their own.
--
-- KEYS: lock, queue
-- ARGV: owner (of this attempt), waiter (optional: it stops waiting, and the next one is notified), channel prefix
-- Returns 1 if the owner had the vote, else 0.
local call, K, Q, inboxes = redis.call, KEYS[1], KEYS[2], ARGV[3]
local holder = call('GET', K)
local ours = holder == ARGV[1]
if ours then call('DEL', K) end
if ARGV[2] then
  call('ZREM', Q, ARGV[2])
  if ours or not holder then
--@wake
  end
end
return ours and 1 or 0
