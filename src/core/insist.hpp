#pragma once
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/reason.hpp"

namespace holdfast::core {

/// How long to go on asking a store that does not answer.
[[nodiscard]] inline instant last_try(io& i, const limit& l, span patience) {
  return std::min(l.at(), runtime::later(i.now(), patience));
}

/// Asks until the store says yes or no, for its patience at most. `ask` takes the limit of one request, which may be
/// carried out though its answer gets lost: asking again must do no harm.
template <class T, class Ask>
[[nodiscard]] task<storage::answer<T>> insist(io& i, limit l, span patience, Ask ask) {
  const instant last = last_try(i, l, patience);
  const limit until(last, l.stop());
  storage::answer<T> answer = storage::answer<T>::no();
  reason why_not;
  for (unsigned tries = 0;; ++tries) {
    answer = co_await ask(until);
    const instant now = i.now();
    if (!answer.is_unknown()) co_return answer;
    why_not.settle(answer, now >= last);
    if (answer.why().permanent() || now >= last) co_return answer;
    const limit pause(std::min(last, runtime::later(now, back_off(i, tries))), l.stop());
    const runtime::wake why = co_await sleep(i, pause);
    if (why == runtime::wake::stopped) co_return answer;
  }
}

}  // namespace holdfast::core
