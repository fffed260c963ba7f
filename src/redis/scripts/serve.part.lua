--@tell
-- Behind the two ids of an owner stands ':', how many it wants, and for how many ms a grant on its behalf lasts.
local function wants(owner)
  local k, ms = string.match(owner, '^(%d+)%-(%d+)', 35)
  return tonumber(k), tonumber(ms)
end

-- Takes back the permits of holders whose time is over; 256 of them in a call. True: there may be more.
local function reap()
  local dead = call('ZRANGE', H, '-inf', math.floor(now / 1000), 'BYSCORE', 'LIMIT', '0', '256')
  for _, holder in ipairs(dead) do used = used - wants(holder) end
  if #dead > 0 then call('ZREMRANGEBYRANK', H, '0', #dead - 1) end
  return #dead == 256
end

-- In order of arrival, as long as the first can have all that it wants; a dead one does not block the others. A call
-- looks at 64 waiters at most. True: there may be more, call again.
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
