-- Returns the first of the next 64 fences: above the last one, and never below the server's clock.
local function mint()
  local last = tonumber(call('SET', F, now + 63, 'EX', '86400', 'GET') or 0)
  if last < now then return now end
  call('SET', F, last + 64, 'EX', '86400')
  return last + 1
end
