#!lua flags=allow-oom
-- Extends several leases to a ttl from now. Never shortens or creates one.
--
-- KEYS: for each lock: lock, revoke requests, fence counter
-- ARGV: ttl in ms, 'day' or '' (as in renew), for each lock: owner, fence
-- Returns 1 if renewed. Returns 0, without renewing any, if one of the locks is not held by that grant. Returns
-- {index, '<fence> <reason>', ...} if renewed and the holder is asked to release some of them.
local call, ttl, many = redis.call, ARGV[1], #KEYS / 3
for n = 1, many do
  if call('GET', KEYS[3 * n - 2]) ~= ARGV[2 * n + 1] then return 0 end
  if tonumber(call('GET', KEYS[3 * n]) or 0) > ARGV[2 * n + 2] + 63 then return 0 end
end
local function renew(K, A, F, me)
  call('PEXPIRE', K, ttl, 'GT')
  if ARGV[2] == 'day' then call('PEXPIRE', F, '86400000') end
--@asked
end
local all = {}
for n = 1, many do
  local why = renew(KEYS[3 * n - 2], KEYS[3 * n - 1], KEYS[3 * n], ARGV[2 * n + 1])
  if why then
    all[#all + 1] = n
    all[#all + 1] = why
  end
end
return #all > 0 and all or 1
