#!lua flags=allow-oom
-- Holds the lock for a ttl from now; never shortens, never creates.
-- KEYS  K
-- ARGV  owner  ttl
-- 1 renewed, 0 it is not ours
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
return 1
