-- Returns the revoke request for this holder, if there is one: the fence of the lease ('0' for any), and the reason.
local meant = call('ZSCORE', A, me)
if meant then
  call('PEXPIRE', A, ttl, 'GT') -- kept as long as the lease
  return string.format('%.0f', meant) .. call('ZRANGE', A, '0', '0')[1]
end
