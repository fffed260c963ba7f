#!lua
-- Acquires permits of a semaphore, or enqueues the owner. Idempotent in the same way as acquire.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, ttl in ms, channel prefix, ticket ('' on the first call, '-' to return instead of queueing), number of
--       permits that exist
-- Returns a number that grows with every grant, or {ms until a holder's lease ends, ticket, position, server time in us, a
-- holder, last number}.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3]
local state = call('GET', K)
--@permits
if not size then
  size = tonumber(ARGV[5])
  call('DEL', H)
end
--@clock
local mine
--@serve
local k = wants(me)
local function enter(counted)
  last = math.max(last + 1, now)
  if not counted then used = used + k end
  call('ZADD', H, 'GT', math.floor(now / 1000) + ARGV[2], me)
  call('PEXPIRE', H, '86400000')
  save()
  return last
end
if call('ZSCORE', H, me) then return enter(true) end
if size ~= tonumber(ARGV[5]) and not call('ZSCORE', Q, me) then
  reap()
  serve() -- dead clients do not keep the name in use
  if used > 0 or call('EXISTS', Q) == 1 then
    save()
    return redis.error_reply(string.format('HFKIND the name is in use as a semaphore of %d, not of %d', size, ARGV[5]))
  end
  size = tonumber(ARGV[5])
end
if used + k <= size and call('EXISTS', Q) == 0 then return enter() end
--@stand
local ticket, new = stand(ARGV[4])
local more = reap()
more = serve() or more
if mine then return enter(true) end
if new and ARGV[4] == '-' then call('ZREM', Q, me) end
save()
local first = call('ZRANGE', H, '0', '0', 'WITHSCORES')
local left = first[2] and math.max(0, first[2] - math.floor(now / 1000)) or 0
local ahead = ARGV[4] ~= '-' and call('ZRANK', Q, me) or -1
return { left, ticket, ahead, now, not more and first[1] or '', last }
