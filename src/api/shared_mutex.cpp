#include "holdfast/shared_mutex.hpp"

#include "api/check.hpp"
#include "api/service.hpp"
#include "api/thread_leases.hpp"

namespace holdfast {

using kind = detail::thread_leases::kind;

namespace {

bool try_once(detail::thread_leases& all, kind what) {
  if (!all.forked() && all.held_by_this_thread()) return false;
  return all.acquire(within(std::chrono::seconds(0)), what);
}

bool acquire_within(detail::thread_leases& all, const limit& until, kind what) {
  all.check_not_held();
  return all.acquire(until, what);
}

}  // namespace

shared_mutex::shared_mutex(const store& s, std::string_view name, const lock_options& options)
    : leases_(std::make_unique<detail::thread_leases>(detail::service::of(s), name, options)) {
  detail::check_fair(name, options);
}

shared_mutex::~shared_mutex() = default;

void shared_mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool shared_mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool shared_mutex::try_lock() { return try_once(*leases_, kind::whole); }

bool shared_mutex::lock_within(const limit& until) { return acquire_within(*leases_, until, kind::whole); }

void shared_mutex::unlock() noexcept { leases_->unlock(kind::whole); }

void shared_mutex::lock_shared() { (void)lock_shared_within(limit(boot_clock::time_point::max())); }

bool shared_mutex::lock_shared(const std::stop_token& stop) { return lock_shared_within(until(stop)); }

bool shared_mutex::try_lock_shared() { return try_once(*leases_, kind::reader); }

bool shared_mutex::lock_shared_within(const limit& until) { return acquire_within(*leases_, until, kind::reader); }

void shared_mutex::unlock_shared() noexcept { leases_->unlock(kind::reader); }

void shared_mutex::unlock_and_lock_shared() { leases_->downgrade(); }

const lease& shared_mutex::current() const { return leases_->current(); }

}  // namespace holdfast
