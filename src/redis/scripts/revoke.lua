#!lua
-- Asks all who hold the name to let go. K:a keeps it for those whom no message reaches, until their next renewal: its
-- members are those who are asked, by the fence that is meant, and before them, with the scores -2 and -1, ' ' and the
-- reason, '@' and the server's time in us and who asks.
-- KEYS  K  K:f  K:h  K:a
-- ARGV  inboxes (how their channels begin)  fence ('0': of whichever lease)  reason  by  bookmark ('': the first call)
-- 1 they are asked, 0 nobody holds it, or not with that fence, -1 another library does; a text: some are asked, call again
-- with that bookmark, `<cursor> <fence of the readers, or 0>`
local call, K, F, H, A, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
local state, fence, bookmark = call('GET', K), tonumber(ARGV[2]), ARGV[5]
if not state then return 0 end
--@clock
local ms = math.floor(now / 1000)
local session = tonumber(string.match(state, '^%+(%d+)$'))
local holders, left, more = { state }, call('PTTL', K), '0'
if session or string.find(state, '^#%d+:%d+:%d+$') then
  if session and fence ~= 0 and session ~= fence then return 0 end
  local last = tonumber(call('ZRANGE', H, '-1', '-1', 'WITHSCORES')[2] or 0)
  if last <= ms then return 0 end
  left = last - ms
  local cursor, of = string.match(bookmark, '^(%d+) (%d+)$')
  if of and tonumber(of) ~= (session or 0) then return 1 end -- those who held it then are gone
  local page = call('ZSCAN', H, cursor or '0', 'COUNT', '128') -- whoever is renewed meanwhile is not missed by it
  holders, more = {}, page[1]
  for n = 1, #page[2], 2 do
    if tonumber(page[2][n + 1]) > ms then holders[#holders + 1] = page[2][n] end
  end
else
  local ids = string.sub(state, 1, 33)
  local ours = string.byte(ids, 17) == 46 and string.find(ids, '^[%w_-]+%.[%w_-]+$') and string.find(state, '^%-%d+', 34)
  if not ours then return -1 end
  local last = tonumber(call('GET', F) or 0)
  if fence ~= 0 and last ~= 0 and (fence > last or fence < last - 63) then return 0 end
end
local asked = {}
for n, holder in ipairs(holders) do
  asked[n] = fence
  if tonumber(call('ZSCORE', A, holder) or fence) == 0 then asked[n] = 0 end -- asked before, whatever its fence
end
if bookmark == '' then
  if more == '0' then
    call('DEL', A)
  else -- what the others were asked before is kept until it is their turn
    call('ZREMRANGEBYRANK', A, '0', '1')
  end
  call('ZADD', A, '-2', ' ' .. ARGV[3], '-1', string.format('@%.0f %s', now, ARGV[4]))
end
for n, holder in ipairs(holders) do
  call('ZADD', A, asked[n], holder)
  local message = string.format('?%.0f %d %s%s', asked[n], #holder, holder, ARGV[3])
  call('SPUBLISH', inboxes .. string.sub(holder, 1, 16), message)
end
call('PEXPIRE', A, math.max(left, 1)) -- a key lives through its last millisecond, with none left
return more == '0' and 1 or string.format('%s %.0f', more, session or 0)
