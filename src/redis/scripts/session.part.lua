-- While readers hold the lock, K has their fence.
local session = holder and tonumber(string.match(holder, '^%+(%d+)$'))
if holder and string.find(holder, '^#%d+:%d+:%d+$') then
  return redis.error_reply('HFKIND the name is in use as a semaphore, not as a lock')
end
