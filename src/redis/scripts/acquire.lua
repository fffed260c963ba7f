#!lua
-- Acquires the lock for ARGV[1], or enqueues it.
--
-- Idempotent: an owner that calls again keeps its place in the queue, and an owner that already holds the lock (because an
-- earlier reply was lost) gets the same grant again.
--
-- KEYS: lock, queue, fence counter, holders
-- ARGV: owner, ttl in ms, channel prefix, ticket ('' on the first call, '-' to return instead of queueing),
--       barge (optional: take a free lock even if others wait)
-- Returns the first of 64 fences, or {ms until the lease ends, ticket, position, server time in us, holder, last fence}.
local call, K, Q, F, H, me, inboxes = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3]
local holder = call('GET', K)
--@clock
--@mint
if not holder and (call('EXISTS', Q) == 0 or ARGV[5]) then
  local fence = mint()
  if ARGV[5] then call('ZREM', Q, me) end
  call('SET', K, me, 'PX', ARGV[2]) -- last, so that an error before it leaves nothing held
  return fence
end
if holder == me then
  call('PEXPIRE', K, ARGV[2], 'GT')
  local last = tonumber(call('GET', F) or 0)
  return last > 63 and last - 63 or mint()
end
--@session
local mine
--@hand
--@stand
local ticket, new = -1, false
if not holder or ARGV[4] ~= '-' then ticket, new = stand(ARGV[4]) end
if not holder then
  call('DEL', H) -- expired readers
  hand()
  if mine then
    call('PEXPIRE', K, ARGV[2], 'GT')
    return mine
  end
  if new and ARGV[4] == '-' then call('ZREM', Q, me) end
elseif session then
  admit(session)
end
--@busy
