#include "api/thread_leases.hpp"

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

thread_leases::entry::entry(std::uint64_t thread_, kind what_, lease held_) noexcept
    : thread(thread_), what(what_), held(std::move(held_)) {}

thread_leases::thread_leases(std::shared_ptr<service> s, std::string_view name, const lock_options& options)
    : service_(std::move(s)),
      name_((check_name(name), name)),
      whole_(check_options_of_object(name, options)),
      reader_(whole_.as_reader()) {}

/// The entry stays valid in its own thread, which alone removes it.
thread_leases::entry* thread_leases::mine() const {
  return all_.with([](const entries& all) -> entry* {
    const auto at = std::ranges::find(all, this_thread(), [](const auto& s) { return s->thread; });
    return at == all.end() ? nullptr : at->get();
  });
}

bool thread_leases::held_by_this_thread() const { return mine() != nullptr; }

void thread_leases::check_not_held() const {
  service_->check_not_forked(name_);
  if (held_by_this_thread()) throw lock_error(errc::would_deadlock, name_, "[" + service_->url() + "]");
}

bool thread_leases::acquire(const limit& until, kind what) {
  std::optional<lease> got = service_->acquire(core::request(name_, what == kind::whole ? whole_ : reader_, until));
  if (!got) return false;
  auto mine = std::make_unique<entry>(this_thread(), what, std::move(*got));
  all_.with([&](entries& all) { all.push_back(std::move(mine)); });
  return true;
}

void thread_leases::unlock(kind what) noexcept {
  if (service_->forked()) return;
  const std::unique_ptr<entry> left = all_.with([&](entries& all) -> std::unique_ptr<entry> {
    const auto is_own = [](const auto& s) { return s->thread == this_thread(); };
    auto at = std::ranges::find_if(all, is_own);
    if (at == all.end()) {
      at = std::ranges::find_if(all, [what](const auto& s) { return s->what == what || s->may_read; });
    }
    if (at == all.end()) return nullptr;
    std::unique_ptr<entry> out = std::move(*at);
    all.erase(at);
    return out;
  });
  if (!left) service_->warn(name_, "unlock of a lock that is not held; nothing was done");
}  // the lease is released here, not under the lock

bool thread_leases::relock() {
  service_->check_not_forked(name_);
  entry* const own = mine();
  if (own == nullptr) return false;
  if (!own->held.held()) {
    throw lock_error(errc::lost, name_, "it was lost while this thread held it; unlock before you lock again");
  }
  ++own->depth;
  return true;
}

void thread_leases::unlock_once() noexcept {
  if (service_->forked()) return;
  entry* const own = mine();
  if (own == nullptr) return service_->warn(name_, "unlock by a thread that does not hold it; nothing was done");
  if (--own->depth == 0) unlock();
}

void thread_leases::downgrade() {
  service_->check_not_forked(name_);
  entry* const own = mine();
  if (own == nullptr || own->what != kind::whole) throw lock_error(errc::lost, name_, "this thread does not hold it");
  all_.with([&](entries&) { own->may_read = true; });
  if (!service_->downgrade(own->held)) throw lock_error(errc::lost, name_, "[" + service_->url() + "]");
  all_.with([&](entries&) {
    own->what = kind::reader;
    own->may_read = false;
  });
}

const lease& thread_leases::current() const {
  service_->check_not_forked(name_);
  const entry* const own = mine();
  if (own == nullptr) throw lock_error(errc::lost, name_, "this thread holds nothing here");
  return own->held;
}

bool thread_leases::forked() const noexcept { return service_->forked(); }

}  // namespace holdfast::detail
