#!lua flags=allow-oom
-- Turns the writer into a reader without a gap. It keeps its fence, and readers at the head of the queue join it.
--
-- KEYS: lock, queue, fence counter, holders, revoke requests
-- ARGV: owner, ttl in ms, channel prefix, fence, owner as a reader
-- Returns 1, or 0 if the owner does not hold the lock. 4 is added if the caller must call again to admit more readers.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[5], ARGV[3]
local holder, fence = call('GET', K), '+' .. ARGV[4]
if holder ~= ARGV[1] and not (holder == fence and call('ZSCORE', H, me)) then return 0 end
-- The call belongs to an earlier grant to the same claim and was delayed.
if holder ~= fence and ARGV[4] + 63 < tonumber(call('GET', F) or 0) then return 0 end
--@clock
local mine
--@admit
if holder == fence then -- a repeated call: the lease counts from now
  confirm(me)
  call('ZADD', H, 'XX', 'GT', math.floor(now / 1000) + ARGV[2], me)
  call('PEXPIRE', H, '86400000')
  call('PEXPIRE', K, ARGV[2], 'GT')
else
  local left = math.max(call('PTTL', K), tonumber(ARGV[2])) -- never shorter
  call('DEL', H)
  call('ZADD', H, math.floor(now / 1000) + left, me)
  confirm(me)
  call('PEXPIRE', H, '86400000')
  call('SET', K, fence, 'PX', left)
  local meant = call('ZSCORE', KEYS[5], ARGV[1]) -- a revoke request stays in force
  if meant then call('ZADD', KEYS[5], meant, me) end
end
return admit(tonumber(ARGV[4])) and 5 or 1
