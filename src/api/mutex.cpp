#include "holdfast/mutex.hpp"

#include "api/service.hpp"
#include "api/thread_leases.hpp"

namespace holdfast {

mutex::mutex(const store& s, std::string_view name, const lock_options& options)
    : leases_(std::make_unique<detail::thread_leases>(detail::service::of(s), name, options)) {}

mutex::~mutex() = default;

void mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool mutex::try_lock() {
  if (!leases_->forked() && leases_->held_by_this_thread()) return false;
  return leases_->acquire(within(std::chrono::seconds(0)));
}

bool mutex::lock_within(const limit& until) {
  leases_->check_not_held();
  return leases_->acquire(until);
}

void mutex::unlock() noexcept { leases_->unlock(); }

const lease& mutex::current() const { return leases_->current(); }

}  // namespace holdfast
