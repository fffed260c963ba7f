-- Behind the two ids of an owner stands what it wants, '-' the lock or '+' a share of it, and for how many ms a grant on
-- its behalf lasts.
local function reads(owner)
  return string.byte(owner, 34) == 43
end
local function claim(owner)
  return tonumber(string.match(owner, '^%d+', 35))
end

--@tell
-- A reader is in until then; K lives as long as the last of them.
local function seat(reader)
  local ms = claim(reader)
  call('ZADD', H, math.floor(now / 1000) + ms, reader)
  call('PEXPIRE', H, '86400000')
  call('PEXPIRE', K, ms, 'GT')
end

--@history
-- Readers at the head of the queue join those who are in, and get their fence. A dead writer does not keep them out.
-- A call looks at 64 waiters at most. True: there may be more, call again. `reader` is one of those who are in, and asks.
local function admit(fence, reader)
  if not confirm(reader) then return false end
  local seen = 0
  for _, waiter in ipairs(call('ZRANGE', Q, '0', '63')) do
    if not reads(waiter) and (waiter == me or alive(waiter)) then break end
    seen = seen + 1
    if waiter == me then
      mine = fence
    elseif reads(waiter) and tell(waiter, fence) then
      seat(waiter)
    end
  end
  if seen > 0 then call('ZREMRANGEBYRANK', Q, '0', seen - 1) end
  return seen == 64
end
