#include "core/hold.hpp"

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

tenancy::tenancy(std::shared_ptr<hold> of, std::uint64_t fence, instant began) noexcept
    : hold_(std::move(of)), fence_(fence), began_(began) {}

bool tenancy::held(instant now) noexcept { return phase_ == phase::held && hold_->valid(now); }

bool tenancy::end(phase how) noexcept {
  phase held = phase::held;
  return phase_.compare_exchange_strong(held, how);
}

std::stop_token tenancy::notice::token() {
  if (!source.stop_possible()) {
    source = std::stop_source();
    if (announced) source.request_stop();  // nobody can listen yet: no user code runs
  }
  return source.get_token();
}

std::optional<std::stop_source> tenancy::notice::mark() {
  announced = true;
  return source.stop_possible() ? std::optional(source) : std::nullopt;
}

std::stop_token tenancy::lost_token() {
  return notices_.with([](notices& n) { return n.lost.token(); });
}

std::optional<std::stop_source> tenancy::mark_loss() {
  return notices_.with([](notices& n) { return n.lost.mark(); });
}

std::stop_token tenancy::asked_token() {
  return notices_.with([](notices& n) { return n.asked.token(); });
}

std::optional<std::stop_source> tenancy::mark_asked() {
  return notices_.with([](notices& n) { return n.asked.mark(); });
}

hold::hold(std::string name_, terms on_, const storage::owner_id& owner_, std::unique_ptr<storage::claim> claim_,
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
      has_room_(on.wants.exclusive()),
      tenure_(tenure{.next_fence = grant.fence, .fences = grant.fences}) {}

bool hold::valid(instant now) noexcept {
  for (instant seen = deadline_;;) {
    if (seen == ended_for_good) return false;
    if (now < seen) return true;
    if (deadline_.compare_exchange_weak(seen, ended_for_good)) return false;
  }
}

bool hold::extend(instant to, instant now) noexcept {
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

std::shared_ptr<tenancy> hold::seat(const std::shared_ptr<hold>& self, instant now) {
  return self->tenure_.with([&](tenure& t) -> std::shared_ptr<tenancy> {
    if (t.finished || t.asked || t.fences == 0) return nullptr;
    auto next = std::make_shared<tenancy>(self, t.next_fence, now);
    if (!seeded(bug::fence_used_twice)) ++t.next_fence;
    --t.fences;
    ++self->seated_;
    t.tenant = next;
    return next;
  });
}

std::shared_ptr<tenancy> hold::ask(const storage::revoke_request& what) noexcept {
  return tenure_.with([&](tenure& t) -> std::shared_ptr<tenancy> {
    if (t.finished || t.asked || !t.tenant || (what.fence != 0 && what.fence != t.tenant->fence())) return nullptr;
    t.asked = true;
    return t.tenant;
  });
}

std::shared_ptr<tenancy> hold::finish() noexcept {
  return tenure_.with([](tenure& t) {
    t.finished = true;
    return std::exchange(t.tenant, nullptr);
  });
}

std::uint64_t hold::fence() const noexcept {
  return tenure_.with([](const tenure& t) { return t.tenant ? t.tenant->fence() : 0; });
}

bool hold::finished() const noexcept {
  return tenure_.with([](const tenure& t) { return t.finished; });
}

}  // namespace holdfast::core
