#include "holdfast/once.hpp"

#include <exception>

#include "api/check.hpp"
#include "api/service.hpp"

namespace holdfast::detail {

/// The state of one call of once() between its polls.
struct once_state {
  const std::shared_ptr<service> on;
  const std::string name;
  const core::terms exclusive, shared;
  const limit until;
  const bool one_look = is_over();  // the limit had passed before the call: ask once, with the store's patience
  bool has_waited = false;
  std::optional<lease> held{};

  [[nodiscard]] bool is_over() const noexcept { return until.at() <= boot_clock::now(); }
};

namespace {

core::request request_for(const once_state& call, const core::terms& on) {
  core::request wanted(call.name, on, call.until);
  wanted.needs_answer = true;
  return wanted;
}

/// Waits in the queue for the exclusive lock.
bool wait_exclusive(once_state& call) {
  if (!call.is_over()) call.held = call.on->acquire(request_for(call, call.exclusive));
  return call.held.has_value();
}

}  // namespace

once_turn::once_turn(const store& s, std::string_view name, const limit& until, const lock_options& options) {
  check_name(name);
  check_fair(name, options);
  const core::terms exclusive = check_options_of_object(name, options);
  state_.reset(new once_state{service::of(s), std::string(name), exclusive, exclusive.as_reader(), until});
}

once_turn::~once_turn() = default;

lease* once_turn::to_make() noexcept { return state_->held ? &*state_->held : nullptr; }

/// The first call takes the lock if it is free, and otherwise waits for it as a reader: when the maker releases it, all
/// readers get it at once, release it and look again. A caller that still finds nothing queues for the exclusive lock,
/// because readers that kept retrying would keep each other out.
bool once_turn::comes() {
  once_state& call = *state_;
  if (std::exchange(call.has_waited, true)) return wait_exclusive(call);
  std::exception_ptr silence;
  try {
    core::request look = request_for(call, call.exclusive);
    look.one_look = true;
    look.bounded = !call.one_look;
    call.held = call.on->acquire(std::move(look));
  } catch (const lock_error&) {  // it asked only once; the wait below asks again, and throws if the error persists
    silence = std::current_exception();
  }
  if (call.held) return true;
  if (call.is_over()) {
    if (silence) std::rethrow_exception(silence);
    return false;
  }
  try {
    const std::optional<lease> read = call.on->acquire(request_for(call, call.shared));
    return read.has_value();
  } catch (const lock_error& e) {
    if (e.code() != errc::unsupported) throw;
  }
  return wait_exclusive(call);  // the store has no read locks: callers run one after the other
}

}  // namespace holdfast::detail
