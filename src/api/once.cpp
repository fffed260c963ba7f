#include "holdfast/once.hpp"

#include <exception>

#include "api/check.hpp"
#include "api/service.hpp"

namespace holdfast::detail {

struct once_state {
  const std::shared_ptr<service> on;
  const std::string name;
  const core::terms maker, onlooker;
  const limit until;
  const bool was_over = is_over();  // from the first: one look, with the store's patience
  bool has_waited = false;
  std::optional<lease> held{};

  [[nodiscard]] bool is_over() const noexcept { return until.at() <= boot_clock::now(); }
};

namespace {

core::request asking(const once_state& at, const core::terms& on) {
  core::request wanted(at.name, on, at.until);
  wanted.needs_answer = true;
  return wanted;
}

/// Who still finds nothing stands in line for the whole lock.
bool stand_in_line(once_state& at) {
  if (!at.is_over()) at.held = at.on->acquire(asking(at, at.maker));
  return at.held.has_value();
}

}  // namespace

once_turn::once_turn(const store& s, std::string_view name, const limit& until, const lock_options& options) {
  check_name(name);
  check_fair(name, options);
  const core::terms maker = check_options_of_object(name, options);
  state_.reset(new once_state{service::of(s), std::string(name), maker, maker.as_reader(), until});
}

once_turn::~once_turn() = default;

lease* once_turn::to_make() noexcept { return state_->held ? &*state_->held : nullptr; }

/// The first time: if nobody makes it, we do; else we wait as a reader. When the maker is done, or gone, all readers
/// come in at once, and out again. Who still finds nothing stands in line for the whole lock: readers who tried for it
/// again and again would keep one another out.
bool once_turn::comes() {
  once_state& at = *state_;
  if (std::exchange(at.has_waited, true)) return stand_in_line(at);
  std::exception_ptr silence;
  try {
    core::request look = asking(at, at.maker);
    look.one_look = true;
    look.bounded = !at.was_over;
    at.held = at.on->acquire(std::move(look));
  } catch (const lock_error&) {  // one look asks once; a wait asks again, and throws what does not pass
    silence = std::current_exception();
  }
  if (at.held) return true;
  if (at.is_over()) {
    if (silence) std::rethrow_exception(silence);
    return false;
  }
  try {
    const std::optional<lease> place = at.on->acquire(asking(at, at.onlooker));
    return place.has_value();
  } catch (const lock_error& e) {
    if (e.code() != errc::unsupported) throw;
  }
  return stand_in_line(at);  // a store without readers: one after the other
}

}  // namespace holdfast::detail
