#include "holdfast/recursive_mutex.hpp"

#include "api/seats.hpp"
#include "api/service.hpp"

namespace holdfast {

recursive_mutex::recursive_mutex(const store& s, std::string_view name, const lock_options& options)
    : seats_(std::make_unique<detail::seats>(detail::service::of(s), name, options)) {}

recursive_mutex::~recursive_mutex() = default;

void recursive_mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool recursive_mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool recursive_mutex::try_lock() { return lock_within(within(std::chrono::seconds(0))); }

bool recursive_mutex::lock_within(const limit& until) { return seats_->enter_again() || seats_->acquire(until); }

void recursive_mutex::unlock() noexcept { seats_->leave_own(); }

const lease& recursive_mutex::current() const { return seats_->current(); }

}  // namespace holdfast
