-- Which history of the server's data this is: a restart or a failover begins another one, in which the last writes of
-- the one before may be missing. False: the user has no right to know.
local here
local function history()
  if here == nil then
    local known, text = pcall(call, 'INFO', 'replication')
    here = known and '@' .. (string.match(text, 'master_replid:(%x+)') or '')
  end
  return here
end
-- Whether readers may join those who are in. H says with the score 0 in which history these were confirmed. In a later
-- one nobody knows whether they had left before it began, and a writer had a higher fence; until one of them asks, whose
-- time is not over: that confirms them. Where H says nothing, an earlier version of this library let them in.
local function confirm(reader)
  local last = call('ZRANGE', H, '0', '0')[1]
  if last == history() then return true end
  local says = last and string.byte(last) == 64
  if here and reader and tonumber(call('ZSCORE', H, reader) or 0) * 1000 > now then
    if says then call('ZREM', H, last) end
    call('ZADD', H, '0', here)
    return true
  end
  return not says
end
