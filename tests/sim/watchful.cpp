#include "sim/watchful.hpp"

#include <string>
#include <utility>

#include "runtime/clock.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using runtime::io;
using runtime::task;
using runtime::wake;
using seam::answer;
using seam::instant;
using seam::milliseconds;

class watchful::place final : public seam::claim {
 public:
  place(watchful& w, const seam::claim_spec& spec)
      : watch_(w), spec_(spec), opened_(w.world_.now()), inner_(w.inner_.open(spec)) {
    watch_.owners_.insert({spec_.owner.high, spec_.owner.low});
  }
  ~place() override {
    watch_.owners_.erase({spec_.owner.high, spec_.owner.low});
    // It is given back for a ttl, on a clock that may be a little fast.
    const bool may_be_known = known_ && watch_.world_.now() < known_until_ - known_for_ / 100;
    if (may_be_known && !watch_.over) watch_.world_.violate("I10: a claim was dropped that the store may know of");
  }

  task<answer<seam::grant>> poll(io& i, limit l) override {
    const in_use busy(*this, "poll");
    const bool known_before = std::exchange(known_, true);
    known_from_now_for(spec_.ttl);
    answer<seam::grant> got = co_await inner_->poll(i, std::move(l));
    note(asked::poll, got);
    if (got.is_no()) known_ = known_before || spec_.queue;
    co_return got;
  }

  task<wake> wakeup(io& i, limit l) override {
    const in_use busy(*this, "wakeup");
    const wake why = co_await inner_->wakeup(i, std::move(l));
    co_return why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    const in_use busy(*this, "renew");
    answer<instant> got = co_await inner_->renew(i, ttl, std::move(l));
    note(asked::renew, got);
    if (got.is_no()) known_ = false;
    if (got.is_yes()) known_from_now_for(ttl);
    co_return got;
  }

  task<answer<seam::done>> release(io& i, limit l) override {
    const in_use busy(*this, "release");
    answer<seam::done> got = co_await inner_->release(i, std::move(l));
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

  void known_from_now_for(real time) {
    known_for_ = time;
    known_until_ = watch_.world_.now() + time;
  }

  template <class T>
  void note(asked what, const answer<T>& got) {
    if (!got.is_unknown()) return watch_.heard(spec_.owner, what, got.is_yes());
    // I9: a silent store is not hammered. The first pauses are about 5, 10, 20 ms; renewals of short ttls come faster.
    const auto open_for = (watch_.world_.now() - opened_) / 1ms;
    if (++unanswered_ > 12 + open_for) {
      watch_.world_.violate("I9: a store that does not answer is asked without a pause");
    }
  }

  watchful& watch_;
  const seam::claim_spec spec_;
  const real opened_;
  const std::unique_ptr<seam::claim> inner_;
  std::int64_t unanswered_ = 0;
  int calls_ = 0;
  bool released_ = false;
  bool known_ = false;  // the store may have a place or a lock of ours
  real known_for_{0}, known_until_{0};
};

std::unique_ptr<seam::claim> watchful::open(seam::claim_spec spec) { return std::make_unique<place>(*this, spec); }

}  // namespace holdfast::sim
