#!lua flags=no-writes
-- Who holds some names, and who waits for them. Changes nothing.
-- KEYS  of each name: K  K:q  K:f  K:h  K:a  K:b
-- ARGV  how many of those who share it, and of those who wait, are listed
-- of each: {what is in K, ms until that ends (-1 never), last fence, server time in us, how many share it, {one, until
--  when, ...}, how many wait, {one, ...}, {fence that is asked for, ' ' and why, '@' and when and by whom} or {}, K:b,
--  ticket of the first who waits or ''}; or an error, if its keys are used for something else
local call = redis.call
--@clock
local ms = math.floor(now / 1000)
-- What is asked of one at least who holds it now.
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
  local state = call('GETRANGE', K, '0', '1023') -- whatever is longer is not ours, and may be huge
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
