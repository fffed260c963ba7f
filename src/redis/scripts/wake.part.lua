-- Notifies the first live waiter that the vote is free.
for _ = 1, 64 do
  local waiter = call('ZPOPMIN', Q)[1]
  if not waiter or call('SPUBLISH', inboxes .. string.sub(waiter, 1, 16), '~' .. K) > 0 then break end
end
