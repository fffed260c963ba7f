#include "holdfast/lease.hpp"

#include <utility>

#include "api/operation.hpp"
#include "api/service.hpp"

namespace holdfast {

lease::lease(std::shared_ptr<detail::service> s, std::shared_ptr<core::lease_state> t) noexcept
    : service_(std::move(s)), state_(std::move(t)) {}

lease::lease(lease&&) noexcept = default;

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    end();
    state_ = std::move(other.state_);
    service_ = std::move(other.service_);
  }
  return *this;
}

lease::~lease() { end(); }

void lease::end() noexcept {
  release();
  // In a fork the lock may still be held by the parent process, so the claim is leaked, as its service is.
  if (state_ && service_->forked()) service_->leak(std::move(state_));
}

bool lease::held() const noexcept { return state_ && !service_->forked() && state_->held(boot_clock::now()); }

std::uint64_t lease::fence() const noexcept { return state_ ? state_->fence() : 0; }

std::uint64_t lease::fence(std::string_view name) const noexcept {
  if (!state_) return 0;
  const core::holding& held = *state_->of();
  return name == held.name ? state_->fence() : held.claim->fence_of(name);
}

std::string_view lease::name() const noexcept {
  return state_ ? std::string_view(state_->of()->name) : std::string_view();
}

std::string lease::owner() const { return state_ ? storage::digits_of(state_->of()->owner) : std::string(); }

boot_clock::time_point lease::deadline() const noexcept {
  return held() ? state_->of()->deadline() : boot_clock::time_point::min();
}

boot_clock::duration lease::remaining() const noexcept {
  if (!held()) return boot_clock::duration::zero();
  const boot_clock::time_point end = state_->of()->deadline();
  if (end == boot_clock::time_point::max()) return boot_clock::duration::max();
  const boot_clock::time_point now = boot_clock::now();
  return now < end ? end - now : boot_clock::duration::zero();
}

std::size_t lease::margin() const noexcept { return held() ? state_->of()->claim->margin() : 0; }

std::stop_token lease::lost_token() const {
  if (!state_) return {};
  if (!service_->forked()) return state_->lost_token();
  std::stop_source never_ours;
  never_ours.request_stop();
  return never_ours.get_token();
}

std::stop_token lease::revoke_requested() const {
  return state_ && !service_->forked() ? state_->revoke_token() : std::stop_token();
}

bool lease::renew(std::chrono::milliseconds ttl) { return state_ && service_->renew(state_, ttl); }

released lease::release() noexcept { return state_ ? service_->release(state_) : released::yes; }

awaitable<released> lease::async_release() {
  using operation = detail::operation<released>;
  if (!state_) throw lock_error(errc::lost, "", "a lease that never held anything");
  return operation::to_await(
      std::make_shared<operation>(service_, state_->of()->name, std::stop_token(),
                                  [t = state_](detail::service& s, std::stop_token) { return s.release_on_loop(t); }));
}

}  // namespace holdfast
