-- The two ids of an owner are followed by the mode, '-' for the lock or '+' for a reader, and by the ttl in ms of a grant that
-- is made on its behalf.
local function reads(owner)
  return string.byte(owner, 34) == 43
end
local function claim(owner)
  return tonumber(string.match(owner, '^%d+', 35))
end

--@tell
-- Admits a reader for its claim ttl. K lives as long as the last reader.
local function seat(reader)
  local ms = claim(reader)
  call('ZADD', H, math.floor(now / 1000) + ms, reader)
  call('PEXPIRE', H, '86400000')
  call('PEXPIRE', K, ms, 'GT')
end

--@history
-- Lets readers at the head of the queue join the readers that hold the lock; they get the same fence. A dead writer does not
-- keep them out. `reader` is a current reader that calls. Returns true if the caller must call again: one call looks at 64
-- waiters.
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
