#include "holdfast/recursive_mutex.hpp"

#include "api/service.hpp"
#include "api/thread_leases.hpp"

namespace holdfast {

recursive_mutex::recursive_mutex(const store& s, std::string_view name, const lock_options& options)
    : leases_(std::make_unique<detail::thread_leases>(detail::service::of(s), name, options)) {}

recursive_mutex::~recursive_mutex() = default;

void recursive_mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool recursive_mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool recursive_mutex::try_lock() { return lock_within(within(std::chrono::seconds(0))); }

bool recursive_mutex::lock_within(const limit& until) { return leases_->relock() || leases_->acquire(until); }

void recursive_mutex::unlock() noexcept { leases_->unlock_once(); }

const lease& recursive_mutex::current() const { return leases_->current(); }

}  // namespace holdfast
