#include "core/holding.hpp"

#include <utility>

#include "seeded_bugs.hpp"

namespace holdfast::core {

namespace {

constexpr instant ended_for_good = instant::min();

}  // namespace

bool terms::pass_on_to(const terms& next) const noexcept {
  return renew && next.renew && max_hold == milliseconds(0) && next.max_hold == milliseconds(0) && ttl == next.ttl &&
         delay == next.delay && fair == next.fair && label == next.label;
}

terms terms::as_reader() const {
  terms reader = *this;
  reader.wants = storage::share::reader();
  return reader;
}

lease_state::lease_state(std::shared_ptr<holding> of, std::uint64_t fence, instant began) noexcept
    : holding_(std::move(of)), fence_(fence), began_(began) {}

bool lease_state::held(instant now) noexcept { return phase_ == phase::held && holding_->valid(now); }

bool lease_state::end(phase how) noexcept {
  phase held = phase::held;
  return phase_.compare_exchange_strong(held, how);
}

std::stop_token lease_state::notice::token() {
  if (!source.stop_possible()) {
    source = std::stop_source();
    if (announced) source.request_stop();  // no callback is registered yet, so no user code runs
  }
  return source.get_token();
}

std::optional<std::stop_source> lease_state::notice::mark() {
  announced = true;
  return source.stop_possible() ? std::optional(source) : std::nullopt;
}

std::stop_token lease_state::lost_token() {
  return notices_.with([](notices& n) { return n.lost.token(); });
}

std::optional<std::stop_source> lease_state::mark_lost() {
  return notices_.with([](notices& n) { return n.lost.mark(); });
}

std::stop_token lease_state::revoke_token() {
  return notices_.with([](notices& n) { return n.revoke.token(); });
}

std::optional<std::stop_source> lease_state::mark_revoke_requested() {
  return notices_.with([](notices& n) { return n.revoke.mark(); });
}

holding::holding(std::string name_, terms on_, const storage::owner_id& owner_, std::unique_ptr<storage::claim> claim_,
                 const storage::grant& grant, instant now) noexcept
    : name(std::move(name_)),
      on(std::move(on_)),
      owner(owner_),
      claim(std::move(claim_)),
      longest_ttl(on.ttl + on.delay),
      began_(now),
      must_end_(on.max_hold > milliseconds(0) ? runtime::later(now, on.max_hold) : runtime::never),
      ttl_(on.ttl),
      deadline_(grant.deadline == runtime::never ? must_end_ : grant.deadline),
      heads_queue_(on.wants.exclusive()),
      users_(users{.next_fence = grant.fence, .fences_left = grant.fences}) {}

bool holding::valid(instant now) noexcept {
  for (instant seen = deadline_;;) {
    if (seen == ended_for_good) return false;
    if (now < seen) return true;
    if (deadline_.compare_exchange_weak(seen, ended_for_good)) return false;
  }
}

bool holding::extend(instant to, instant now) noexcept {
  if (to == runtime::never) to = must_end_;
  if (seeded(bug::lost_comes_back)) {
    deadline_ = to;
    return true;
  }
  for (instant seen = deadline_;;) {
    if (seen == ended_for_good || now >= seen) return false;
    if (to <= seen) return true;
    if (deadline_.compare_exchange_weak(seen, to)) return true;
  }
}

loss holding::loss_at_deadline() const noexcept {
  return on.renew && must_end() == runtime::never ? loss::unrenewed : loss::expired;
}

std::shared_ptr<lease_state> holding::new_lease(const std::shared_ptr<holding>& self, instant now) {
  return self->users_.with([&](users& u) -> std::shared_ptr<lease_state> {
    if (u.finished || u.revoke_requested || u.fences_left == 0) return nullptr;
    auto next = std::make_shared<lease_state>(self, u.next_fence, now);
    if (!seeded(bug::fence_used_twice)) ++u.next_fence;
    --u.fences_left;
    ++self->lease_count_;
    u.current = next;
    return next;
  });
}

std::shared_ptr<lease_state> holding::request_revoke(const storage::revoke_request& what) noexcept {
  return users_.with([&](users& u) -> std::shared_ptr<lease_state> {
    if (u.finished || u.revoke_requested || !u.current || (what.fence != 0 && what.fence != u.current->fence()))
      return nullptr;
    u.revoke_requested = true;
    return u.current;
  });
}

std::shared_ptr<lease_state> holding::finish() noexcept {
  return users_.with([](users& u) {
    u.finished = true;
    return std::exchange(u.current, nullptr);
  });
}

std::uint64_t holding::fence() const noexcept {
  return users_.with([](const users& u) { return u.current ? u.current->fence() : 0; });
}

bool holding::finished() const noexcept {
  return users_.with([](const users& u) { return u.finished; });
}

}  // namespace holdfast::core
