#!lua flags=allow-oom
-- Permits are held for a ttl from now; never shortens, never creates.
-- KEYS  K  K:h  K:a
-- ARGV  owner  ttl
-- 1 renewed, 0 they are not ours; or as in renew
local call, K, H, A, me, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
if not call('ZSCORE', H, me) or call('EXISTS', K) == 0 then return 0 end
--@clock
call('ZADD', H, 'XX', 'GT', math.floor(now / 1000) + ttl, me)
call('PEXPIRE', H, '86400000')
call('PEXPIRE', K, '86400000')
--@asked
return 1
