#!lua
-- Acquires several locks if all of them are free and none has a queue. Locks that the owners already hold are granted again.
--
-- KEYS: for each lock: lock, queue, fence counter
-- ARGV: ttl in ms, the owner of each lock
-- Returns the first fence of each lock, or 0 if none was acquired.
local call, ttl = redis.call, ARGV[1]
local ours = {}
for n = 1, #KEYS / 3 do
  local holder = call('GET', KEYS[3 * n - 2])
  ours[n] = holder == ARGV[n + 1]
  if not ours[n] and (holder or call('EXISTS', KEYS[3 * n - 1]) == 1) then return 0 end
end
--@clock
local F
--@mint
local fences = {}
for n, owned in ipairs(ours) do
  F = KEYS[3 * n]
  local last = owned and tonumber(call('GET', F) or 0) or 0
  fences[n] = last > 63 and last - 63 or mint()
end
for n, owned in ipairs(ours) do -- last, so that an error before it leaves nothing held
  if owned then
    call('PEXPIRE', KEYS[3 * n - 2], ttl, 'GT')
  else
    call('SET', KEYS[3 * n - 2], ARGV[n + 1], 'PX', ttl)
  end
end
return fences
