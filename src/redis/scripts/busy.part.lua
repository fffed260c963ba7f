holder = call('GET', K) or ''
if string.byte(holder) == 43 then holder = call('ZRANGE', H, '-1', '-1')[1] or holder end
local ahead = ARGV[4] ~= '-' and call('ZRANK', Q, me) or -1
return { call('PTTL', K), ticket, ahead, now, holder, tonumber(call('GET', F) or 0) }
