#!lua flags=allow-oom
-- Holds the lock for a ttl from now; never shortens, never creates.
-- KEYS  K  [K:a  K:f]
-- ARGV  owner  ttl  [fence ('': any)  ['day': K:f shall live for another day]]
-- 1 renewed, 0 it is not ours, 2 it is ours, but not by the grant that we know; renewed, but asked to let go:
-- '<fence that is meant> <reason>'
local call, K, A, F, me, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
if call('GET', K) ~= me then return 0 end
-- A poll of this claim that was carried out late has got the lock for it again, after another may have had it.
if F and ARGV[3] ~= '' and tonumber(call('GET', F) or 0) > ARGV[3] + 63 then return 2 end
call('PEXPIRE', K, ttl, 'GT')
if not A then return 1 end
if ARGV[4] then call('PEXPIRE', F, '86400000') end
--@asked
return 1
