-- A cell is stored as `<version> <end in ms> <number> <ids of its last changes, newest first, 16 characters each> <note>`. It
-- is kept for a minute after it expires.
local state = call('GET', C)
local version, ends, number, ids, note = string.match(state or '', '^(%d+) (%d+) (%d+) (%S+) (.*)$')
if state and not version then return redis.error_reply('HFKIND the name holds something that is not ours') end
version = tonumber(version)
local left = math.max(0, tonumber(ends or 0) - math.floor(now / 1000))
