--@tell
-- The two ids of an owner are followed by ':', the number of permits, and the ttl in ms of a grant on its behalf.
local function wants(owner)
  local k, ms = string.match(owner, '^(%d+)%-(%d+)', 35)
  return tonumber(k), tonumber(ms)
end

-- Takes back the permits of at most 256 holders whose leases have expired. Returns true if there may be more.
local function reap()
  local dead = call('ZRANGE', H, '-inf', math.floor(now / 1000), 'BYSCORE', 'LIMIT', '0', '256')
  for _, holder in ipairs(dead) do used = used - wants(holder) end
  if #dead > 0 then call('ZREMRANGEBYRANK', H, '0', #dead - 1) end
  return #dead == 256
end

-- Grants permits in order of arrival, as long as the first waiter can get all that it wants. A dead waiter does not block the
-- others. Looks at 64 waiters, and returns true if there may be more.
local function serve()
  local seen = 0
  for _, waiter in ipairs(call('ZRANGE', Q, '0', '63')) do
    local k, ms = wants(waiter)
    local fits = used + k <= size
    if not fits and (waiter == me or alive(waiter)) then break end
    seen = seen + 1
    last = math.max(last + 1, now)
    if waiter == me then mine = last end
    if waiter == me or fits and tell(waiter, last) then
      used = used + k
      call('ZADD', H, math.floor(now / 1000) + ms, waiter)
      call('PEXPIRE', H, '86400000')
    end
  end
  if seen > 0 then call('ZREMRANGEBYRANK', Q, '0', seen - 1) end
  return seen == 64
end
