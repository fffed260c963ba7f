#!lua flags=allow-oom
-- Extends the lease of a reader to a ttl from now. Never shortens or creates it, and never extends those of other readers.
--
-- KEYS: lock, holders, revoke requests
-- ARGV: owner, ttl in ms, fence
-- Returns the same as renew.
local call, K, H, A, me, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
if call('GET', K) ~= '+' .. ARGV[3] or not call('ZSCORE', H, me) then return 0 end
--@clock
--@history
confirm(me)
call('ZADD', H, 'XX', 'GT', math.floor(now / 1000) + ttl, me)
call('PEXPIRE', H, '86400000')
call('PEXPIRE', K, ttl, 'GT')
--@asked
return 1
