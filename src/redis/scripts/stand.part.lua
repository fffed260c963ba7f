-- Returns the ticket of this owner in the queue, which it enters at the end if it is not there, and whether it is new.
local function stand(ticket)
  ticket = tonumber(ticket)
  if not ticket then
    local last = call('ZRANGE', Q, '-1', '-1', 'WITHSCORES')[2]
    ticket = math.max(now, (tonumber(last) or 0) + 1)
  end
  if call('ZADD', Q, 'NX', ticket, me) == 0 then return tonumber(call('ZSCORE', Q, me)), false end
  call('PEXPIRE', Q, '86400000')
  return ticket, true
end
