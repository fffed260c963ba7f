#include "api/service.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "api/check.hpp"
#include "runtime/inline_io.hpp"
#include "runtime/thread.hpp"

namespace holdfast::detail {

using namespace std::chrono_literals;
using runtime::instant;

namespace {

/// A release is never waited for any longer, and never past the deadline.
limit release_limit(const core::lease_state& lease, instant now) noexcept {
  return limit(std::min(now + 1s, lease.of()->deadline()));
}

}  // namespace

store service::open(std::string url, const maker& make, const open_options& options) {
  try {
    return store(std::shared_ptr<service>(new service(url, make, options), retire));
  } catch (const storage::failure& why) {
    throw lock_error(why.code, "", why.text + " [" + url + "]");
  } catch (const std::system_error& e) {
    throw lock_error(errc::not_ready, "", e.what());
  }
}

service::service(std::string url, const maker& make, const open_options& options)
    : url_(std::move(url)),
      report_(options.observe),
      backend_(make(loop_)),
      executor_(options.executor,
                [report = report_](const char* what) {
                  report.tell_here({.what = event::kind::warning, .name = {}, .text = what});
                }),
      engine_(*backend_, loop_, executor_, report_, {.patience = options.patience, .burst = options.burst}) {}

service::~service() {
  engine_.close();
  engine_.end();
  engine_.tasks().wait_until_empty();
  backend_->close();
  loop_.stop();
}

/// Runs when the last owner is destroyed. On a thread of the store, which cannot join itself, another thread closes it.
/// In a forked child it is leaked.
void service::retire(service* s) noexcept {
  if (!s->forked()) {
    // On an executor's thread, even that of another store, waiting could deadlock: user code may wait for each other.
    if (s->may_wait()) return delete s;
    try {
      runtime::start_thread("holdfast-end", [s] { delete s; }).detach();
      return;
    } catch (const std::exception&) {  // no thread can be started
    }
  }
  static std::atomic<service*> leaked{nullptr};  // reachable, so that leak checkers accept it
  s->next_leaked_ = leaked.load();
  while (!leaked.compare_exchange_weak(s->next_leaked_, s)) {
  }
}

std::optional<lease> service::acquire(core::request r) {
  const std::string name = r.name;
  check_not_forked(name);
  start(name);
  runtime::inline_io here;
  core::outcome end = run_inline(engine_.acquire(here, std::move(r)));
  return lease_of(std::move(end), name);
}

runtime::task<std::optional<lease>> service::acquire_on_loop(core::request r) {
  const std::string name = r.name;
  core::outcome end = co_await engine_.acquire(loop_, std::move(r));
  co_return lease_of(std::move(end), name);
}

std::optional<lease> service::lease_of(core::outcome end, std::string_view name) {
  if (end.what == core::outcome::kind::granted) return lease(shared_from_this(), std::move(end.lease));
  if (end.what == core::outcome::kind::failed) fail(*end.why, name);
  return std::nullopt;
}

template <class Call>
auto service::ask(std::string_view name, Call call) {
  check_not_forked(name);
  start(name);
  runtime::inline_io here;
  auto answer = run_inline(call(here));
  if (answer.is_unknown()) fail(answer.why(), name);
  return answer;
}

bool service::renew(const std::shared_ptr<core::lease_state>& t, std::chrono::milliseconds ttl) {
  const std::string& name = t->of()->name;
  const auto call = [&](runtime::io& here) {
    check_ttl(name, ttl);
    return engine_.renew(here, t, ttl, limit(runtime::never));
  };
  return ask(name, call).is_yes();
}

bool service::downgrade(const lease& l) {
  const std::shared_ptr<core::lease_state>& t = l.state_;
  const auto call = [&](runtime::io& here) { return engine_.downgrade(here, t, limit(runtime::never)); };
  return ask(t->of()->name, call).is_yes();
}

void service::resize(std::string_view name, std::uint32_t permits) {
  (void)ask(name,
            [&](runtime::io& here) { return engine_.resize(here, std::string(name), permits, limit(runtime::never)); });
}

core::reliable_cell service::open_cell(std::string cell, std::string_view name) {
  check_not_forked(name);
  start(name);
  return engine_.open_cell(std::move(cell), true);
}

std::shared_ptr<core::announcement> service::announce(const lease& l, std::string cell, std::string label) {
  auto announced = std::make_shared<core::announcement>();
  core::reliable_cell where = engine_.open_cell(std::move(cell), false);
  spawn(l.name(), core::announce(loop_, std::move(where), l.state_, std::move(label), announced));
  return announced;
}

state service::inspect(std::string_view name, const limit& until) {
  const limit ask_for(core::is_one_look(until) ? runtime::never : until.at(), until.stop());
  auto answer = ask(name, [&](runtime::io& here) { return engine_.inspect(here, std::string(name), ask_for); });
  return answer.is_yes() ? std::move(answer.value()) : state();
}

std::vector<finding> service::examine() {
  auto answer = ask("", [&](runtime::io& here) { return engine_.examine(here, limit(runtime::never)); });
  std::vector<finding> all;
  if (!answer.is_yes()) return all;
  for (finding& each : answer.value()) {  // not stable_sort: with libstdc++ 12 clang warns of deprecated code
    const auto after = std::ranges::upper_bound(all, each.level, {}, &finding::level);
    all.insert(after, std::move(each));
  }
  return all;
}

bool service::revoke(std::string_view name, std::string_view reason, std::uint64_t fence) {
  const auto call = [&](runtime::io& here) {
    return engine_.revoke(here, std::string(name), std::string(reason), fence, limit(runtime::never));
  };
  return ask(name, call).is_yes();
}

listing service::list(std::string_view prefix, std::string_view after) {
  auto answer = ask(prefix, [&](runtime::io& here) {
    return engine_.list(here, std::string(prefix), std::string(after), limit(runtime::never));
  });
  return answer.is_yes() ? std::move(answer.value()) : listing();
}

bool service::break_lock(storage::break_request what) {
  const std::string name = what.name;
  const auto call = [&](runtime::io& here) { return engine_.break_lock(here, std::move(what), limit(runtime::never)); };
  return ask(name, call).is_yes();
}

void service::warn(std::string_view name, std::string_view text) noexcept {
  if (!forked()) report_.tell(executor_, {.what = event::kind::warning, .name = name, .text = text});
}

released service::release(const std::shared_ptr<core::lease_state>& t) noexcept {
  if (forked()) return released::unknown;
  runtime::inline_io here;
  const instant now = here.now();
  const limit until = release_limit(*t, now);
  const std::optional<released> over = engine_.end_lease(*t, now);
  if (over) return *over;
  try {
    if (may_wait()) return run_inline(engine_.release_claim(here, t, until));
  } catch (const std::exception&) {  // no memory: the background releases it
    return released::unknown;
  }
  t->set_release_result(released::unknown);
  try {
    engine_.spawn(release_claim_on_loop(t, until));
  } catch (const std::exception&) {
    engine_.release_in_background(t->of());
  }
  return released::unknown;
}

void service::leak(std::shared_ptr<core::lease_state> t) noexcept {
  leaked_.with([&](auto& all) { all.push_back(std::move(t)); });
}

runtime::task<void> service::release_claim_on_loop(std::shared_ptr<core::lease_state> t, limit until) {
  const released result = co_await engine_.release_claim(loop_, t, until);
  (void)result;  // async_release() returns it
}

runtime::task<released> service::release_on_loop(std::shared_ptr<core::lease_state> t) {
  const limit until = release_limit(*t, loop_.now());
  return engine_.release(loop_, std::move(t), until);
}

void service::spawn(std::string_view name, runtime::task<void> work) {
  check_not_forked(name);
  start(name);
  engine_.spawn(std::move(work));
}

void service::start(std::string_view name) {
  try {
    engine_.start();
  } catch (const std::system_error& e) {
    fail(storage::failure(errc::not_ready, e.what()), name);
  }
}

void service::close() noexcept {
  if (!forked()) engine_.close();
}

void service::check_not_forked(std::string_view name) const {
  if (forked()) throw lock_error(errc::forked, name, "[" + url_ + "]");
}

void service::fail(const storage::failure& why, std::string_view name) const {
  throw lock_error(why.code, name, (why.text.empty() ? "" : why.text + " ") + "[" + url_ + "]", why.is_late);
}

}  // namespace holdfast::detail
