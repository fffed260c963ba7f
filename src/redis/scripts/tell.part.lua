-- Tells a waiter what it has got. False: nobody listens there any more.
local function tell(waiter, fence)
  local message = string.format('%.0f %.0f %d %s%s', fence, now, #waiter, waiter, K)
  return call('SPUBLISH', inboxes .. string.sub(waiter, 1, 16), message) > 0
end
-- Whether anybody listens there, without telling.
local function alive(waiter)
  return call('PUBSUB', 'SHARDNUMSUB', inboxes .. string.sub(waiter, 1, 16))[2] > 0
end

