#include "holdfast/mutex.hpp"

#include "api/seats.hpp"
#include "api/service.hpp"

namespace holdfast {

mutex::mutex(const store& s, std::string_view name, const lock_options& options)
    : seats_(std::make_unique<detail::seats>(detail::service::of(s), name, options)) {}

mutex::~mutex() = default;

void mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool mutex::try_lock() {
  if (!seats_->forked() && seats_->seated()) return false;
  return seats_->acquire(within(std::chrono::seconds(0)));
}

bool mutex::lock_within(const limit& until) {
  seats_->refuse_second();
  return seats_->acquire(until);
}

void mutex::unlock() noexcept { seats_->leave(); }

const lease& mutex::current() const { return seats_->current(); }

}  // namespace holdfast
