#!lua
-- Changes a cell if its version is still the one that the caller has seen. Notifies the watchers, unless the change only
-- extends the ttl.
--
-- KEYS: cell, watchers
-- ARGV: version seen, id of the change, number, note, ttl in ms (0 removes the cell), channel prefix
-- Returns the version that this change made, now or in an earlier call. Returns 0 if it was not made and never will be, and
-- -1 if it is unknown whether an earlier call has made it.
local call, C, W, seen, id, ttl = redis.call, KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
--@clock
--@cell
if version then
  local at = string.find(ids, id, 1, true)
  if at then return version - (at - 1) / 16 end
  if version ~= seen then
    local kept = #ids / 16
    local oldest = version - kept + 1
    -- Another change took its place; or all changes since the cell was created are known, and an earlier cell would be too.
    local never = seen + 1 >= oldest or kept < 64 and oldest - seen < 60000000
    return seen < version and never and 0 or -1
  end
elseif seen > now or now - seen >= 60000000 then
  return -1 -- the change may have been made and forgotten
end
local only_longer = left > 0 and ttl > 0 and number == ARGV[3] and note == ARGV[4]
local made = (version or math.max(now, seen)) + 1 -- above `seen`, which may be from this microsecond
local head = string.format('%.0f %.0f ', made, math.floor(now / 1000) + ttl)
call('SET', C, head .. ARGV[3] .. ' ' .. string.sub(id .. (ids or ''), 1, 1024) .. ' ' .. ARGV[4], 'PX', ttl + 60000)
if not only_longer then
  local waiting = call('ZRANGE', W, '0', '1023') -- further watchers poll
  for _, watcher in ipairs(waiting) do call('SPUBLISH', ARGV[6] .. watcher, '~' .. C) end
  if #waiting > 0 then call('ZREMRANGEBYRANK', W, '0', #waiting - 1) end
end
return made
