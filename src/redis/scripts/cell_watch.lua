#!lua
-- Lets a client be told, once, when a cell changes.
-- KEYS  K:n  K:w
-- ARGV  seen (a version)  '1' if there was something, or '0'  inbox
-- ms until the cell goes, 0: there is none; -1: it is not as seen any more
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
