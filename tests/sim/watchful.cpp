#include "sim/watchful.hpp"

#include <string>
#include <utility>

#include "runtime/clock.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using runtime::io;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::instant;
using storage::milliseconds;

class watchful::place final : public storage::claim {
 public:
  place(watchful& w, const std::vector<storage::claim_spec>& specs)
      : watch_(w),
        specs_(specs),
        spec_(specs_.front()),
        opened_(w.world_.now()),
        inner_(specs_.size() == 1 ? w.inner_.open(spec_) : w.inner_.open_all(specs)) {
    for (const storage::claim_spec& each : specs_) watch_.owners_.insert({each.owner.high, each.owner.low});
  }
  ~place() override {
    for (const storage::claim_spec& each : specs_) watch_.owners_.erase({each.owner.high, each.owner.low});
    holds_until(std::nullopt);
    // Its release is retried for a ttl, on a clock that may be a little fast.
    const bool may_be_known = known_ && watch_.world_.now() < known_until_ - known_for_ / 100;
    if (may_be_known && !watch_.over) watch_.world_.violate("I10: a claim was dropped that the store may know of");
  }

  task<answer<storage::grant>> poll(io& i, limit l) override {
    const in_use busy(*this, "poll");
    const bool known_before = std::exchange(known_, true);
    known_from_now_for(spec_.ttl);
    answer<storage::grant> got = co_await inner_->poll(i, l);
    note(asked::poll, got);
    const bool cut = i.now() >= l.at() || l.stop().stop_requested();
    if (watch_.quiet && got.is_unknown() && !cut) {
      watch_.world_.violate("I7: a poll got no answer though nothing was wrong");
    }
    if (got.is_no()) known_ = known_before || spec_.queue;
    if (!got.is_unknown()) holds_until(got.is_yes() ? std::optional(got.value().deadline) : std::nullopt);
    if (got.is_yes()) tell_fences(got.value().fence);
    co_return got;
  }
  [[nodiscard]] std::uint64_t fence_of(std::string_view name) const noexcept override { return inner_->fence_of(name); }
  [[nodiscard]] std::uint64_t fence_of(const storage::owner_id& id) const noexcept override {
    return inner_->fence_of(id);
  }
  [[nodiscard]] bool has_parts() const noexcept override { return inner_->has_parts(); }

  task<wake> wakeup(io& i, limit l) override {
    const in_use busy(*this, "wakeup");
    const wake why = co_await inner_->wakeup(i, std::move(l));
    co_return why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    const in_use busy(*this, "renew");
    watch_.renews(spec_.owner);
    answer<instant> got = co_await inner_->renew(i, ttl, std::move(l));
    note(asked::renew, got);
    if (got.is_no()) known_ = false;
    if (!got.is_unknown()) holds_until(got.is_yes() ? std::optional(got.value()) : std::nullopt);
    if (got.is_yes()) known_from_now_for(ttl);
    co_return got;
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    const in_use busy(*this, "downgrade");
    answer<instant> got = co_await inner_->downgrade(i, fence, ttl, std::move(l));
    note(asked::downgrade, got);
    if (got.is_no()) known_ = false;
    if (!got.is_unknown()) holds_until(got.is_yes() ? std::optional(got.value()) : std::nullopt);
    if (got.is_yes()) known_from_now_for(ttl);
    co_return got;
  }

  task<answer<storage::done>> release(io& i, limit l) override {
    const in_use busy(*this, "release");
    holds_until(std::nullopt);
    answer<storage::done> got = co_await inner_->release(i, std::move(l));
    note(asked::release, got);
    if (!got.is_unknown()) {
      released_ = true;
      known_ = false;
    }
    co_return got;
  }

 private:
  class in_use {
   public:
    in_use(place& p, const std::string& call) : place_(p) {
      world& w = place_.watch_.world_;
      if (place_.calls_++ > 0) w.violate("I5: " + call + " during another call on the claim");
      if (place_.released_) w.violate("I5: " + call + " after the release was answered");
    }
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;
    ~in_use() { --place_.calls_; }

   private:
    place& place_;
  };

  /// For several names it is not known which of them is lost, so only single names are recorded.
  void holds_until(std::optional<instant> deadline) {
    const std::pair<std::uint64_t, std::uint64_t> me{spec_.owner.high, spec_.owner.low};
    if (!deadline) watch_.holders_.erase(me);
    if (deadline && specs_.size() == 1) watch_.holders_.insert_or_assign(me, *deadline);
  }

  void tell_fences(std::uint64_t fence) const {
    for (const storage::claim_spec& each : specs_) {
      const std::uint64_t own = specs_.size() == 1 ? fence : inner_->fence_of(each.owner);
      if (own != 0) watch_.granted(each.owner, own);  // else it has got another id
    }
  }

  void known_from_now_for(real time) {
    known_for_ = time;
    known_until_ = watch_.world_.now() + time;
  }

  template <class T>
  void note(asked what, const answer<T>& got) {
    if (!got.is_unknown()) {
      // The answer for several locks together does not answer a request for one of them.
      if (specs_.size() == 1) watch_.heard(spec_.owner, what, got.is_yes());
      return;
    }
    // I9: a silent store is not hammered. The first pauses are about 5, 10, 20 ms; renewals of short ttls come faster.
    const auto open_for = (watch_.world_.now() - opened_) / 1ms;
    if (++unanswered_ > 12 + open_for) {
      watch_.world_.violate("I9: a store that does not answer is asked without a pause");
    }
  }

  watchful& watch_;
  const std::vector<storage::claim_spec> specs_;
  const storage::claim_spec& spec_;  // the first
  const real opened_;
  const std::unique_ptr<storage::claim> inner_;
  std::int64_t unanswered_ = 0;
  int calls_ = 0;
  bool released_ = false;
  bool known_ = false;  // the store may have a queue entry or a lock of this claim
  real known_for_{0}, known_until_{0};
};

std::unique_ptr<storage::claim> watchful::open(storage::claim_spec spec) {
  const std::vector<storage::claim_spec> one(1, std::move(spec));
  return std::make_unique<place>(*this, one);
}

std::unique_ptr<storage::claim> watchful::open_all(std::vector<storage::claim_spec> specs) {
  return std::make_unique<place>(*this, specs);
}

}  // namespace holdfast::sim
