#!lua flags=allow-oom
-- Reads a cell.
--
-- KEYS: cell
-- Returns {version, ms until it expires, number, note}. Without a cell the second value is 0, and the version identifies
-- this observation.
local call, C = redis.call, KEYS[1]
--@clock
--@cell
if left == 0 then return { version or now, 0, '0', '' } end
return { version, left, number, note }
