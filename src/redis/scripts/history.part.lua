-- Returns the id of the history of the server's data, or false if the user may not read it. A restart or a failover begins
-- another history, in which the last writes of the previous one may be missing.
local here
local function history()
  if here == nil then
    local known, text = pcall(call, 'INFO', 'replication')
    here = known and '@' .. (string.match(text, 'master_replid:(%x+)') or '')
  end
  return here
end
-- Returns whether readers may join the current ones. H records, with the score 0, in which history these were confirmed. After
-- a failover they may have left, and a writer may have had a higher fence, until one whose lease has not expired calls again:
-- that confirms them. An earlier version of this library has admitted them if H has no such entry.
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
