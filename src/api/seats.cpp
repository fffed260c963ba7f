#include "api/seats.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "api/check.hpp"
#include "api/service.hpp"

namespace holdfast::detail {

namespace {

/// Unlike std::thread::id, never used again for another thread.
std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t mine = ++last;
  return mine;
}

}  // namespace

seats::seat::seat(std::uint64_t who_, kind what_, lease held_) noexcept
    : who(who_), what(what_), held(std::move(held_)) {}

seats::seats(std::shared_ptr<service> s, std::string_view name, const lock_options& options)
    : service_(std::move(s)),
      name_((check_name(name), name)),
      whole_(check_options_of_object(name, options)),
      reader_(whole_.as_reader()) {}

/// What it points to stays: only its own thread ends it.
seats::seat* seats::mine() const {
  return all_.with([](const all_seats& all) -> seat* {
    const auto at = std::ranges::find(all, this_thread(), [](const auto& s) { return s->who; });
    return at == all.end() ? nullptr : at->get();
  });
}

bool seats::seated() const { return mine() != nullptr; }

void seats::refuse_second() const {
  service_->check_not_forked(name_);
  if (seated()) throw lock_error(errc::would_deadlock, name_, "[" + service_->url() + "]");
}

bool seats::acquire(const limit& until, kind what) {
  std::optional<lease> got = service_->acquire(core::request(name_, what == kind::whole ? whole_ : reader_, until));
  if (!got) return false;
  auto mine = std::make_unique<seat>(this_thread(), what, std::move(*got));
  all_.with([&](all_seats& all) { all.push_back(std::move(mine)); });
  return true;
}

void seats::leave(kind what) noexcept {
  if (service_->forked()) return;
  const std::unique_ptr<seat> left = all_.with([&](all_seats& all) -> std::unique_ptr<seat> {
    const auto is_own = [](const auto& s) { return s->who == this_thread(); };
    auto at = std::ranges::find_if(all, is_own);
    if (at == all.end()) {
      at = std::ranges::find_if(all, [what](const auto& s) { return s->what == what || s->may_read; });
    }
    if (at == all.end()) return nullptr;
    std::unique_ptr<seat> out = std::move(*at);
    all.erase(at);
    return out;
  });
  if (!left) service_->warn(name_, "unlock of a lock that is not held; nothing was done");
}  // released here, not under the lock

bool seats::enter_again() {
  service_->check_not_forked(name_);
  seat* const own = mine();
  if (own == nullptr) return false;
  if (!own->held.held()) {
    throw lock_error(errc::lost, name_, "it was lost while this thread held it; unlock before you lock again");
  }
  ++own->depth;
  return true;
}

void seats::leave_own() noexcept {
  if (service_->forked()) return;
  seat* const own = mine();
  if (own == nullptr) return service_->warn(name_, "unlock by a thread that does not hold it; nothing was done");
  if (--own->depth == 0) leave();
}

void seats::downgrade() {
  service_->check_not_forked(name_);
  seat* const own = mine();
  if (own == nullptr || own->what != kind::whole) throw lock_error(errc::lost, name_, "this thread does not hold it");
  all_.with([&](all_seats&) { own->may_read = true; });
  if (!service_->downgrade(own->held)) throw lock_error(errc::lost, name_, "[" + service_->url() + "]");
  all_.with([&](all_seats&) {
    own->what = kind::reader;
    own->may_read = false;
  });
}

const lease& seats::current() const {
  service_->check_not_forked(name_);
  const seat* const own = mine();
  if (own == nullptr) throw lock_error(errc::lost, name_, "this thread holds nothing here");
  return own->held;
}

bool seats::forked() const noexcept { return service_->forked(); }

}  // namespace holdfast::detail
