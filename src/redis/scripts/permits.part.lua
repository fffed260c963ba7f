-- The value of a semaphore is `#<permits>:<permits held>:<last number>`.
local size, used, last = string.match(state or '', '^#(%d+):(%d+):(%d+)$')
if state and not size then return redis.error_reply('HFKIND the name is in use as a lock, not as a semaphore') end
size, used, last = tonumber(size), tonumber(used or 0), tonumber(last or 0)
local function save()
  call('SET', K, string.format('#%d:%d:%.0f', size, used, last), 'PX', '86400000')
end
