-- Somebody asks us to let go: which of our leases is meant ('0' whichever it is), and why.
local meant = call('ZSCORE', A, me)
if meant then
  call('PEXPIRE', A, ttl, 'GT') -- as long as what is held
  return string.format('%.0f', meant) .. call('ZRANGE', A, '0', '0')[1]
end
