-- Notifies a waiter of its grant. Returns false if it is not subscribed any more.
local function tell(waiter, fence)
  local message = string.format('%.0f %.0f %d %s%s', fence, now, #waiter, waiter, K)
  return call('SPUBLISH', inboxes .. string.sub(waiter, 1, 16), message) > 0
end
-- Returns whether the waiter is subscribed.
local function alive(waiter)
  return call('PUBSUB', 'SHARDNUMSUB', inboxes .. string.sub(waiter, 1, 16))[2] > 0
end

