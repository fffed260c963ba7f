#!lua
-- Registers a client for one notification when the cell changes.
--
-- KEYS: cell, watchers
-- ARGV: version seen, whether the cell existed ('1' or '0'), inbox
-- Returns the ms until the cell expires, 0 if there is none, or -1 if it has changed since it was seen.
local call, C, W = redis.call, KEYS[1], KEYS[2]
--@clock
--@cell
if (left > 0) ~= (ARGV[2] == '1') or version and version ~= tonumber(ARGV[1]) then return -1 end
local ms = math.floor(now / 1000)
local gone = call('ZRANGE', W, '-inf', ms - 60000, 'BYSCORE', 'LIMIT', '0', '64')
if #gone > 0 then call('ZREMRANGEBYRANK', W, '0', #gone - 1) end
call('ZADD', W, ms, ARGV[3])
call('PEXPIRE', W, '60000')
return left
