#!lua flags=allow-oom
-- Holds the lock for a ttl from now; never shortens, never creates.
-- KEYS  K  [K:a  [K:f, which shall live for another day]]
-- ARGV  owner  ttl
-- 1 renewed, 0 it is not ours; renewed, but asked to let go: '<fence that is meant> <reason>'
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
if not KEYS[2] then return 1 end
if KEYS[3] then redis.call('PEXPIRE', KEYS[3], '86400000') end
local call, A, me, ttl = redis.call, KEYS[2], ARGV[1], ARGV[2]
--@asked
return 1
