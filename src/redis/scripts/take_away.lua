#!lua flags=allow-oom
-- Redlock: takes the vote of one server from its holder by force. Notifies the holder, whose next renewal fails, and one
-- waiter, as withdraw does. K:b records for a day who did it, as in break_lock, and the claim that lost the vote.
--
-- KEYS: lock, queue, break record
-- ARGV: channel prefix, id of this call, fence, claim ('' for none), by, reason
-- Returns 1 if the vote was taken, now or by an earlier call with this id, and 0 if that claim does not have it.
local call, K, Q, B, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local holder = call('GET', K)
if not holder or ARGV[4] == '' or ARGV[4] ~= string.sub(holder, 18, 33) then
  return string.sub(call('GET', B) or '', 1, 16) == ARGV[2] and 1 or 0
end
--@clock
call('SET', B, string.format('%s%s %.0f %.0f %d %s%s', ARGV[2], ARGV[4], ARGV[3], now, #ARGV[5], ARGV[5], ARGV[6]), 'PX', '86400000')
call('DEL', K)
call('SPUBLISH', inboxes .. string.sub(holder, 1, 16), '!' .. holder)
--@wake
return 1
