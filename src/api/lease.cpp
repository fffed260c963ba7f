#include "holdfast/lease.hpp"

#include <utility>

#include "api/operation.hpp"
#include "api/service.hpp"

namespace holdfast {

lease::lease(std::shared_ptr<detail::service> s, std::shared_ptr<core::tenancy> t) noexcept
    : service_(std::move(s)), tenancy_(std::move(t)) {}

lease::lease(lease&&) noexcept = default;

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    end();
    tenancy_ = std::move(other.tenancy_);
    service_ = std::move(other.service_);
  }
  return *this;
}

lease::~lease() { end(); }

void lease::end() noexcept {
  release();
  // In a forked child the lock belongs to the parent, so the claim must not be destroyed here: it is leaked.
  if (tenancy_ && service_->forked()) service_->leak(std::move(tenancy_));
}

bool lease::held() const noexcept { return tenancy_ && !service_->forked() && tenancy_->held(boot_clock::now()); }

std::uint64_t lease::fence() const noexcept { return tenancy_ ? tenancy_->fence() : 0; }

std::uint64_t lease::fence(std::string_view name) const noexcept {
  if (!tenancy_) return 0;
  const core::hold& held = *tenancy_->of();
  return name == held.name ? tenancy_->fence() : held.claim->fence_of(name);
}

std::string_view lease::name() const noexcept {
  return tenancy_ ? std::string_view(tenancy_->of()->name) : std::string_view();
}

std::string lease::owner() const { return tenancy_ ? storage::digits_of(tenancy_->of()->owner) : std::string(); }

boot_clock::time_point lease::deadline() const noexcept {
  return held() ? tenancy_->of()->deadline() : boot_clock::time_point::min();
}

boot_clock::duration lease::remaining() const noexcept {
  if (!held()) return boot_clock::duration::zero();
  const boot_clock::time_point end = tenancy_->of()->deadline();
  if (end == boot_clock::time_point::max()) return boot_clock::duration::max();
  const boot_clock::time_point now = boot_clock::now();
  return now < end ? end - now : boot_clock::duration::zero();
}

std::size_t lease::margin() const noexcept { return held() ? tenancy_->of()->claim->margin() : 0; }

std::stop_token lease::lost_token() const {
  if (!tenancy_) return {};
  if (!service_->forked()) return tenancy_->lost_token();
  std::stop_source never_ours;
  never_ours.request_stop();
  return never_ours.get_token();
}

std::stop_token lease::revoke_requested() const {
  return tenancy_ && !service_->forked() ? tenancy_->asked_token() : std::stop_token();
}

bool lease::renew(std::chrono::milliseconds ttl) { return tenancy_ && service_->renew(tenancy_, ttl); }

released lease::release() noexcept { return tenancy_ ? service_->release(tenancy_) : released::yes; }

awaitable<released> lease::async_release() {
  using operation = detail::operation<released>;
  if (!tenancy_) throw lock_error(errc::lost, "", "a lease that never held anything");
  return operation::to_await(std::make_shared<operation>(
      service_, tenancy_->of()->name, std::stop_token(),
      [t = tenancy_](detail::service& s, std::stop_token) { return s.release_on_loop(t); }));
}

}  // namespace holdfast
