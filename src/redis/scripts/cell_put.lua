#!lua
-- Changes a cell, if it still is as it was seen; tells those who wait, unless only its end is put off.
-- KEYS  K:n  K:w
-- ARGV  seen (a version)  id  number  note  ttl (0: removes it)  inboxes (how their channels begin)
-- yes   the version that this change made, now or when it was asked for before
-- no    0: it was not made, and never will be; -1: the same, unless it was asked for before, for then nobody can tell
local call, C, W, seen, id, ttl = redis.call, KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
--@clock
--@cell
if version then
  local at = string.find(ids, id, 1, true)
  if at then return version - (at - 1) / 16 end
  if version ~= seen then
    local kept = #ids / 16
    local oldest = version - kept + 1
    -- Another was made in its place; or all are known since the cell came, and an earlier life would be remembered.
    local never = seen + 1 >= oldest or kept < 64 and oldest - seen < 60000000
    return seen < version and never and 0 or -1
  end
elseif seen > now or now - seen >= 60000000 then
  return -1 -- it may have been made and forgotten
end
local only_longer = left > 0 and ttl > 0 and number == ARGV[3] and note == ARGV[4]
local made = (version or math.max(now, seen)) + 1 -- of a new one: others may have seen nothing in this instant
local head = string.format('%.0f %.0f ', made, math.floor(now / 1000) + ttl)
call('SET', C, head .. ARGV[3] .. ' ' .. string.sub(id .. (ids or ''), 1, 1024) .. ' ' .. ARGV[4], 'PX', ttl + 60000)
if not only_longer then
  local waiting = call('ZRANGE', W, '0', '1023') -- if there are more, they look for themselves
  for _, watcher in ipairs(waiting) do call('SPUBLISH', ARGV[6] .. watcher, '~' .. C) end
  if #waiting > 0 then call('ZREMRANGEBYRANK', W, '0', #waiting - 1) end
end
return made
