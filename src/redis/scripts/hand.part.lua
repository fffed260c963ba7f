--@admit

-- Grants the free lock to the first live waiter, for the ttl in the waiter's queue entry. If that is a reader, the readers
-- behind it are admitted as well. Returns true if the caller must call again because there may be more waiters.
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
