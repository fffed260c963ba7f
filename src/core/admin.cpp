#include <utility>

#include "core/engine.hpp"
#include "core/linked_limit.hpp"
#include "core/retry.hpp"

namespace holdfast::core {

namespace {

constexpr std::size_t names_on_a_page = 100;

storage::failure engine_closed() { return storage::failure(errc::closed, ""); }

}  // namespace

/// `ask` is kept for the whole call, so what it needs of the caller it has by value.
template <class T, class Ask>
task<storage::answer<T>> engine::ask_while_open(io& i, limit l, Ask ask) {
  if (env_.closing.stop_requested()) co_return storage::answer<T>::unknown(engine_closed());
  const linked_limit until(l, env_.closing.get_token());
  const retry_rule rule = retry_rule::within(until.get(), i.now(), env_.patience);
  const auto ask_once = [&](const limit& one) { return ask(one); };
  storage::answer<T> answer = co_await retry_until_answered<T>(i, env_.store_silence, rule, ask_once);
  if (answer.is_unknown() && env_.closing.stop_requested()) co_return storage::answer<T>::unknown(engine_closed());
  co_return answer;
}

task<storage::answer<storage::done>> engine::resize(io& i, std::string name, std::uint32_t permits, limit l) {
  return ask_while_open<storage::done>(i, std::move(l), [this, &i, name = std::move(name), permits](const limit& one) {
    return env_.backend.admin().resize(i, name, permits, one);
  });
}

task<storage::answer<state>> engine::inspect(io& i, std::string name, limit l) {
  return ask_while_open<state>(i, std::move(l), [this, &i, name = std::move(name)](const limit& one) {
    return env_.backend.admin().inspect(i, name, one);
  });
}

task<storage::answer<listing>> engine::list(io& i, std::string prefix, std::string after, limit l) {
  return ask_while_open<listing>(i, std::move(l),
                                 [this, &i, prefix = std::move(prefix), after = std::move(after)](const limit& one) {
                                   return env_.backend.admin().list(i, prefix, after, names_on_a_page, one);
                                 });
}

task<storage::answer<std::vector<finding>>> engine::examine(io& i, limit l) {
  return ask_while_open<std::vector<finding>>(
      i, std::move(l), [this, &i](const limit& one) { return env_.backend.admin().examine(i, one); });
}

task<storage::answer<storage::done>> engine::revoke(io& i, std::string name, std::string reason, std::uint64_t fence,
                                                    limit l) {
  return ask_while_open<storage::done>(
      i, std::move(l), [this, &i, name = std::move(name), reason = std::move(reason), fence](const limit& one) {
        return env_.backend.admin().revoke(i, name, reason, fence, one);
      });
}

task<storage::answer<storage::done>> engine::break_lock(io& i, storage::break_request what, limit l) {
  what.id = storage::owner_id::of(i.random(), i.random());
  return ask_while_open<storage::done>(i, std::move(l), [this, &i, what = std::move(what)](const limit& one) {
    return env_.backend.admin().break_lock(i, what, one);
  });
}

}  // namespace holdfast::core
