#!lua flags=no-writes
-- Reads who holds some locks and who waits for them. Changes nothing.
--
-- KEYS: for each lock: lock, queue, fence counter, holders, revoke requests, break record
-- ARGV: the number of holders and of waiters to list
-- Returns for each lock {value of K, ms until it expires (-1 for never), last fence, server time in us, number of holders that
-- share it, {holder, end of its lease, ...}, number of waiters, {waiter, ...}, {fence in the revoke request, ' ' and reason,
-- '@' and its time and author} or {}, value of K:b, ticket of the first waiter or ''}, or an error if its keys are used for
-- something else.
local call = redis.call
--@clock
local ms = math.floor(now / 1000)
-- Returns the revoke request, if it is for a current holder.
local function asked(state, H, A)
  local note = call('ZRANGE', A, '0', '1')
  local meant = note[1] and call('ZSCORE', A, state)
  if note[1] and string.find(state, '^[+#]') then
    local whom = call('ZRANGE', A, '2', '65', 'WITHSCORES')
    for n = 1, #whom, 2 do
      if tonumber(call('ZSCORE', H, whom[n]) or 0) > ms then meant = whom[n + 1] end
    end
  end
  return meant and { meant, note[1], note[2] } or {}
end
local function look(K, Q, F, H, A, B)
  local state = call('GETRANGE', K, '0', '1023') -- a longer value is not ours, and may be huge
  local many, those, waiting = 0, {}, {}
  if string.find(state, '^[+#]') then
    many = call('ZCOUNT', H, '(' .. ms, '+inf')
    those = call('ZRANGE', H, '(' .. ms, '+inf', 'BYSCORE', 'LIMIT', '0', ARGV[1], 'WITHSCORES')
  end
  if ARGV[2] ~= '0' then waiting = call('ZRANGE', Q, '0', ARGV[2] - 1) end
  local last = tonumber(call('GET', F) or 0)
  local left, queue, first = call('PTTL', K), call('ZCARD', Q), call('ZRANGE', Q, '0', '0', 'WITHSCORES')[2] or ''
  return { state, left, last, now, many, those, queue, waiting, asked(state, H, A), call('GET', B) or '', first }
end
local all = {}
for n = 1, #KEYS, 6 do
  local _, is = pcall(look, KEYS[n], KEYS[n + 1], KEYS[n + 2], KEYS[n + 3], KEYS[n + 4], KEYS[n + 5])
  all[#all + 1] = is
end
return all
