--@admit

-- The lock is free: the first in the queue that is alive gets it, for the claim ttl that stands in its own entry; and if
-- that one reads, so do the readers behind it. True: there may be more, call again.
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
      if not reads(waiter) then
        call('SET', K, waiter, 'PX', claim(waiter))
        return false
      end
      call('DEL', H)
      call('SET', K, string.format('+%.0f', fence), 'PX', claim(waiter))
      seat(waiter)
      return admit(fence, waiter)
    end
    waiter = nil
  end
  call('DEL', K)
  return true
end
