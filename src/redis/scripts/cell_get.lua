#!lua flags=allow-oom
-- What stands in a cell.
-- KEYS  K:n
-- {version, ms until it goes, number, note}; without an end there is nothing, and the version says that this was seen
local call, C = redis.call, KEYS[1]
--@clock
--@cell
if left == 0 then return { version or now, 0, '0', '' } end
return { version, left, number, note }
