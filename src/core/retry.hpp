#pragma once
#include <algorithm>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include "core/silence.hpp"
#include "runtime/back_off.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"

namespace holdfast::core {

/// The error to report when a repeated request fails for good. A try that the caller's own limit cuts short says less
/// than the one before it, so it does not replace that error.
class last_error {
 public:
  /// Returns what to report after one more failed try.
  [[nodiscard]] const storage::failure& after(storage::failure failed, bool cut_short) {
    if (!last_ || !cut_short || failed.permanent()) last_ = std::move(failed);
    return *last_;
  }
  /// Same as above, in place of an unknown answer.
  template <class T>
  void settle(storage::answer<T>& unknown, bool cut_short) {
    unknown = storage::answer<T>::unknown(after(std::move(unknown.why()), cut_short));
  }
  /// The store has answered, so it is no longer unreachable. An error that it reported itself may still apply.
  void answered() {
    if (last_ && last_->code == errc::unreachable) last_.reset();
  }
  void reset() { last_.reset(); }

 private:
  std::optional<storage::failure> last_;
};

/// How long a request is repeated.
struct retry_rule {
  runtime::instant last = runtime::never;  ///< when the last try ends
  runtime::span patience;                  ///< how long one try waits for its reply
  std::stop_token stop{};
  bool background = false;    ///< no caller waits: neither `last` cuts a pause nor an error ends it
  bool catch_errors = false;  ///< an exception of a try counts as an unknown answer

  /// For as long as the store's patience, within the limit.
  [[nodiscard]] static retry_rule within(const limit& l, runtime::instant now, runtime::span patience) {
    return {.last = std::min(l.at(), runtime::later(now, patience)), .patience = patience, .stop = l.stop()};
  }
};

/// Repeats a request, with growing pauses, until the store answers yes or no or the rule ends it. `ask` takes the limit
/// of one try and returns its task. A try whose reply is lost may have been carried out: repeating it must be harmless.
template <class T, class Ask>
[[nodiscard]] runtime::task<storage::answer<T>> retry_until_answered(runtime::io& i, silence& store, retry_rule rule,
                                                                     Ask ask) {
  storage::answer<T> got = storage::answer<T>::no();
  last_error error;
  for (unsigned tries = 0;; ++tries) {
    const limit for_reply(std::min(rule.last, runtime::later(i.now(), rule.patience)), rule.stop);
    try {
      got = co_await ask(for_reply);
    } catch (const std::exception& e) {
      if (!rule.catch_errors) throw;
      got = storage::answer<T>::unknown(storage::failure(errc::not_ready, e.what()));
    }
    const runtime::instant now = i.now();
    store.note(got, now);
    if (!got.is_unknown()) co_return got;
    error.settle(got, now >= rule.last);
    if ((got.why().permanent() && !rule.background) || now >= rule.last) co_return got;
    const runtime::instant then = runtime::later(now, back_off(i, tries));
    const limit pause(rule.background ? then : std::min(rule.last, then), rule.stop);
    const runtime::wake why = co_await sleep(i, pause);
    if (why == runtime::wake::stopped) co_return got;
  }
}

}  // namespace holdfast::core
