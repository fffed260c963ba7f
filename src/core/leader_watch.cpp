#include "core/leader_watch.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

using runtime::wake;
using storage::answer;
using storage::done;
using storage::reading;

task<answer<done>> leader_watch::next(io& i, limit l) {
  const bool one_look = l.at() <= i.now();
  bool waits = seen_ && !one_look;  // the last reading is known already
  for (bool looked = false;; looked = true) {
    if (l.stop().stop_requested() || (looked && i.now() >= l.at())) co_return answer<done>::no();
    if (waits) {
      const wake why = co_await cell_.changed(i, *seen_, l);
      if (why != wake::signalled) co_return answer<done>::no();
    }
    answer<reading> is = co_await cell_.look(i, l);
    if (is.is_unknown()) {
      const bool as_good_as_no = looked && !is.why().permanent() && i.now() >= l.at();
      if (as_good_as_no || l.stop().stop_requested()) co_return answer<done>::no();
      co_return answer<done>::unknown(std::move(is.why()));
    }
    seen_ = is.value();
    if (take(is.value())) co_return answer<done>::yes(done());
    if (one_look) co_return answer<done>::no();
    waits = true;
  }
}

bool leader_watch::take(const reading& is) {
  std::optional<leading> now;
  if (is.there && is.number >= highest_) now = leading{is.number, is.note};
  if (now) highest_ = now->fence;
  if (now == current_) return false;
  current_ = std::move(now);
  return true;
}

}  // namespace holdfast::core
