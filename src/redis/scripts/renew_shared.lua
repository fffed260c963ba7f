#!lua flags=allow-oom
-- A reader is in for a ttl from now; never shortens, never creates, and never lengthens what others hold.
-- KEYS  K  K:h  K:a
-- ARGV  owner  ttl  fence
-- as in renew
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
