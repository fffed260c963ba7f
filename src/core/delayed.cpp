#include "core/delayed.hpp"

namespace holdfast::core {

using storage::answer;
using storage::grant;
using storage::instant;
using storage::io;
using storage::milliseconds;
using storage::task;

instant delayed::earlier(instant deadline) const noexcept {
  return deadline == runtime::never ? deadline : deadline - delay_;
}

task<answer<grant>> delayed::poll(io& i, limit l) {
  answer<grant> got = co_await inner_->poll(i, l);
  if (!got.is_yes()) co_return got;
  grant mine = got.value();
  const instant now = i.now();
  // A grant that the store made while we waited is short. Less the delay, nothing may be left of it.
  if (earlier(mine.deadline) <= now + ttl_ / 2) {
    answer<instant> kept = co_await inner_->renew(i, ttl_ + delay_, l);
    if (kept.is_unknown()) co_return answer<grant>::unknown(std::move(kept.why()));
    if (kept.is_no()) co_return answer<grant>::no();
    if (i.now() >= mine.deadline) {  // even if the store says yes: that may be a later grant
      co_return answer<grant>::unknown(storage::failure::late("the answer took longer than the ttl"));
    }
    mine.deadline = kept.value();
  }
  mine.deadline = earlier(mine.deadline);
  co_return answer<grant>::yes(mine);
}

task<answer<instant>> delayed::renew(io& i, milliseconds ttl, limit l) {
  answer<instant> kept = co_await inner_->renew(i, ttl + delay_, std::move(l));
  co_return kept.is_yes() ? answer<instant>::yes(earlier(kept.value())) : std::move(kept);
}

task<answer<instant>> delayed::downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) {
  answer<instant> kept = co_await inner_->downgrade(i, fence, ttl + delay_, std::move(l));
  co_return kept.is_yes() ? answer<instant>::yes(earlier(kept.value())) : std::move(kept);
}

}  // namespace holdfast::core
