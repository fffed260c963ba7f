#!lua flags=allow-oom
-- Extends the lease to a ttl from now. Never shortens or creates it.
--
-- KEYS: lock, revoke requests (optional), fence counter (optional)
-- ARGV: owner, ttl in ms, fence (optional, '' for any), 'day' (optional: also keep the fence counter for a day)
-- Returns 1 if renewed, 0 if the owner does not hold the lock, and 2 if it holds it by a grant that the caller does not know.
-- Returns '<fence> <reason>' if renewed and the holder is asked to release; fence '0' means any lease.
local call, K, A, F, me, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
if call('GET', K) ~= me then return 0 end
-- A delayed poll of this claim has acquired the lock again, and another client may have held it in between.
if F and ARGV[3] ~= '' and tonumber(call('GET', F) or 0) > ARGV[3] + 63 then return 2 end
call('PEXPIRE', K, ttl, 'GT')
if not A then return 1 end
if ARGV[4] then call('PEXPIRE', F, '86400000') end
--@asked
return 1
