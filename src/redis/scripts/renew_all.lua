#!lua flags=allow-oom
-- Holds several locks for a ttl from now; never shortens, never creates.
-- KEYS  of each lock: K  K:a  K:f
-- ARGV  ttl  'day' (each K:f shall live for another day, else '')  of each lock: owner  fence
-- 1 renewed, 0 one of them is not ours, or not by the grant that we know, and none was renewed; renewed, but some are
-- asked for: {which, as in renew, ...}
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
