#!lua
-- Asks all holders of the lock to release it. K:a keeps the request until their next renewal, for holders that no message
-- reaches. Its members are the holders that are asked, with the fence of the lease as their score; with the scores -2 and -1 it
-- also has ' ' and the reason, and '@', the server's time in us and the author.
--
-- KEYS: lock, fence counter, holders, revoke requests
-- ARGV: channel prefix, fence ('0' for any lease), reason, author, bookmark ('' on the first call)
-- Returns 1 if the holders were asked, 0 if there is no such holder, -1 if another library holds the lock. Returns a bookmark
-- `<cursor> <fence of the readers, or 0>` if only some were asked and the caller must call again with it.
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
  if of and tonumber(of) ~= (session or 0) then return 1 end -- the holders of the first call are gone
  local page = call('ZSCAN', H, cursor or '0', 'COUNT', '128') -- misses no member that stays
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
  if tonumber(call('ZSCORE', A, holder) or fence) == 0 then asked[n] = 0 end -- an earlier request for any lease stays in force
end
if bookmark == '' then
  if more == '0' then
    call('DEL', A)
  else -- keeps earlier requests to the other holders until a later call replaces them
    call('ZREMRANGEBYRANK', A, '0', '1')
  end
  call('ZADD', A, '-2', ' ' .. ARGV[3], '-1', string.format('@%.0f %s', now, ARGV[4]))
end
for n, holder in ipairs(holders) do
  call('ZADD', A, asked[n], holder)
  local message = string.format('?%.0f %d %s%s', asked[n], #holder, holder, ARGV[3])
  call('SPUBLISH', inboxes .. string.sub(holder, 1, 16), message)
end
call('PEXPIRE', A, math.max(left, 1)) -- a key with 0 ms left still exists for that millisecond
return more == '0' and 1 or string.format('%s %.0f', more, session or 0)
