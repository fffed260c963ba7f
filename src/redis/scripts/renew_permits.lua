#!lua flags=allow-oom
-- Extends the lease of permits to a ttl from now. Never shortens or creates it.
--
-- KEYS: lock, holders, revoke requests
-- ARGV: owner, ttl in ms
-- Returns 1 if renewed, 0 if the owner holds none, or the text of a revoke request as in renew.
local call, K, H, A, me, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
if not call('ZSCORE', H, me) or call('EXISTS', K) == 0 then return 0 end
--@clock
call('ZADD', H, 'XX', 'GT', math.floor(now / 1000) + ttl, me)
call('PEXPIRE', H, '86400000')
call('PEXPIRE', K, '86400000')
--@asked
return 1
