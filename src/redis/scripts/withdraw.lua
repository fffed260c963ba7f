#!lua flags=allow-oom
-- Takes back a vote that one of several servers has given, or may have given. An attempt that failed tells nobody: of
-- several that stand in each other's way, each tries again after a pause of its own.
-- KEYS  K  K:q
-- ARGV  owner (of this attempt)  [waiter  inboxes (how their channels begin): it waits no longer; who does is told]
-- 1 it was ours, 0 it was not
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
