-- Releases K and hands it on, or leaves its queue. Returns the same as release.
local holder = call('GET', K)
local did = holder == me and 1 or call('ZREM', Q, me) * 2
local session = did ~= 1 and holder and tonumber(string.match(holder, '^%+(%d+)$'))
if did ~= 1 and holder and not session then return did end
local waiter
if not session then
  waiter = call('ZPOPMIN', Q)[1]
  if not waiter then
    if did == 1 then call('DEL', K) end
    return did
  end
elseif call('EXISTS', Q) == 0 then
  return did
end
me = nil
local mine
--@clock
--@mint
--@hand
local more
if session then
  more = admit(session)
else
  more = hand(waiter)
end
return more and did + 4 or did
