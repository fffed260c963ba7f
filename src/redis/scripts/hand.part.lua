-- Tells a waiter that it holds the lock now. False: nobody listens there any more.
local function tell(waiter, fence)
  local message = string.format('%.0f %.0f %d %s%s', fence, now, #waiter, waiter, K)
  return call('SPUBLISH', inboxes .. string.sub(waiter, 1, 16), message) > 0
end

-- The lock is free: the first in the queue that is alive gets it, for the claim ttl that stands in its own entry.
-- A call looks at 64 waiters at most. True: there may be more, call again.
local function hand(waiter)
  local fence = mint()
  for _ = 1, 64 do
    waiter = waiter or call('ZPOPMIN', Q)[1]
    if not waiter then
      call('DEL', K)
      return false
    end
    if waiter == me then mine = fence end
    if mine or tell(waiter, fence) then
      call('SET', K, waiter, 'PX', string.match(waiter, '^%d+', 35))
      return false
    end
    waiter = nil
  end
  call('DEL', K)
  return true
end
