#!lua flags=allow-oom
-- Takes the vote of one of several servers by force from whoever is meant, and tells that one, whose next renewal says
-- no, and one who waits, as withdraw does. K:b keeps for a day who did it, as in break_lock, and from whom.
-- KEYS  K  K:q  K:b
-- ARGV  inboxes (how their channels begin)  id of this call  fence  claim ('': nobody is meant)  by  reason
-- 1 it was taken, now or by this call before, 0 who is meant does not have it
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
