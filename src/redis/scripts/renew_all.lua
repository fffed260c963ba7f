#!lua flags=allow-oom
-- Holds several locks for a ttl from now; never shortens, never creates.
-- KEYS  of each lock: K  K:a  [K:f, which shall live for another day]
-- ARGV  ttl  the owner of each
-- 1 renewed, 0 one of them is not ours, and none was renewed; renewed, but some are asked for: {which, as in renew, ...}
local call, ttl, many = redis.call, ARGV[1], #ARGV - 1
local keys = #KEYS / many -- of each
for n = 1, many do
  if call('GET', KEYS[keys * (n - 1) + 1]) ~= ARGV[n + 1] then return 0 end
end
local function renew(K, A, F, me)
  call('PEXPIRE', K, ttl, 'GT')
  if F then call('PEXPIRE', F, '86400000') end
--@asked
end
local all = {}
for n = 1, many do
  local at = keys * (n - 1)
  local why = renew(KEYS[at + 1], KEYS[at + 2], keys == 3 and KEYS[at + 3], ARGV[n + 1])
  if why then
    all[#all + 1] = n
    all[#all + 1] = why
  end
end
return #all > 0 and all or 1
