#!lua flags=allow-oom
-- The writer becomes a reader without a gap, and keeps its fence; readers at the head of the queue come in, too.
-- KEYS  K  K:q  K:f  K:h  K:a
-- ARGV  owner  ttl  inboxes (how their channels begin)  fence  owner (as a reader)
-- 1 done, 0 it is not ours; and 4 more: call again, there are more readers to let in
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[5], ARGV[3]
local holder, fence = call('GET', K), '+' .. ARGV[4]
if holder ~= ARGV[1] and not (holder == fence and call('ZSCORE', H, me)) then return 0 end
-- Of an earlier grant to the same claim: it was under way for long.
if holder ~= fence and ARGV[4] + 63 < tonumber(call('GET', F) or 0) then return 0 end
--@clock
local mine
--@admit
if holder == fence then -- asked again: the answer is counted from now
  confirm(me)
  call('ZADD', H, 'XX', 'GT', math.floor(now / 1000) + ARGV[2], me)
  call('PEXPIRE', H, '86400000')
  call('PEXPIRE', K, ARGV[2], 'GT')
else
  local left = math.max(call('PTTL', K), tonumber(ARGV[2])) -- never shortens
  call('DEL', H)
  call('ZADD', H, math.floor(now / 1000) + left, me)
  confirm(me)
  call('PEXPIRE', H, '86400000')
  call('SET', K, fence, 'PX', left)
  local meant = call('ZSCORE', KEYS[5], ARGV[1]) -- asked to let go: it still is
  if meant then call('ZADD', KEYS[5], meant, me) end
end
return admit(tonumber(ARGV[4])) and 5 or 1
