#include "storage/bundle.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "seeded_bugs.hpp"

namespace holdfast::storage {

using runtime::never;
using runtime::span;

bundle::bundle(backend& b, std::vector<claim_spec> specs) : backend_(b) {
  const std::string first = specs.front().name;
  if (!seeded(bug::bundle_in_any_order)) {
    std::sort(specs.begin(), specs.end(), [](const auto& a, const auto& z) { return a.name < z.name; });
  }
  for (claim_spec& spec : specs) {
    if (spec.name == first) first_given_ = parts_.size();
    part p;
    p.place = backend_.open(spec);
    p.spec = std::move(spec);
    parts_.push_back(std::move(p));
  }
}

std::uint64_t bundle::fence_of(std::string_view name) const noexcept {
  const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const part& p) { return p.spec.name == name; });
  return at == parts_.end() ? 0 : at->fence;
}

std::uint64_t bundle::fence_of(const owner_id& id) const noexcept {
  const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const part& p) { return p.spec.owner == id; });
  return at == parts_.end() ? 0 : at->fence;
}

// Losing one part loses all.
std::size_t bundle::margin() const noexcept {
  std::size_t least = parts_.front().place->margin();
  for (const part& p : parts_) least = std::min(least, p.place->margin());
  return least;
}

shard bundle::lies_on() const noexcept {
  const shard first = parts_.front().place->lies_on();
  const auto there = [&](const part& p) { return p.place->lies_on() == first; };
  return std::all_of(parts_.begin(), parts_.end(), there) ? first : no_shard;
}

instant bundle::nearest_deadline() const noexcept {
  instant first = never;
  for (std::size_t n = 0; n < have_; ++n) first = std::min(first, parts_[n].deadline);
  return first;
}

task<answer<grant>> bundle::poll(io& i, limit l) {
  const milliseconds ttl = parts_.front().spec.ttl;
  const bool queues = parts_.front().spec.queue;
  const instant now = i.now();
  const instant ends = nearest_deadline();
  if (ends != never && now + span(ttl) * 2 / 3 > ends && !starts_over_ && !seeded(bug::bundle_forgets_what_it_has)) {
    answer<instant> kept = co_await renew_first(i, have_, ttl, l);
    if (kept.is_unknown()) co_return answer<grant>::unknown(std::move(kept.why()));
    // A part whose deadline has passed is lost even if the store says yes: others may have held it in between, and a
    // late poll of ours acquired it again.
    starts_over_ = kept.is_no() || i.now() >= ends;
  }
  if (starts_over_) {
    answer<done> gone = co_await start_over(i, l);
    if (gone.is_unknown()) co_return answer<grant>::unknown(std::move(gone.why()));
  }
  if (!in_turn_) {
    known_ = parts_.size();
    answer<done> all = co_await take_all(i, l);
    if (all.is_unknown()) co_return answer<grant>::unknown(std::move(all.why()));
    if (all.is_yes()) have_ = parts_.size();
    in_turn_ = true;
    known_ = have_;
  }
  while (have_ < parts_.size()) {
    part& next = parts_[have_];
    known_ = have_ + 1;
    answer<grant> got = co_await next.place->poll(i, l);
    if (got.is_no() && !queues) {  // without a queue, nothing of ours may stay behind
      const std::size_t taken = have_;
      answer<done> gone = co_await release_first(i, taken, l);
      if (gone.is_unknown()) co_return answer<grant>::unknown(std::move(gone.why()));
      co_return got;
    }
    if (got.is_unknown()) got.why().text = "'" + next.spec.name + "': " + got.why().text;
    if (!got.is_yes()) co_return got;
    next.fence = got.value().fence;
    next.deadline = got.value().deadline;
    ++have_;
  }
  // The first parts may be old by now: the holder needs time for the next renewal.
  instant deadline = nearest_deadline();
  if (deadline != never && i.now() + span(ttl) / 2 > deadline) {
    answer<instant> kept = co_await renew_first(i, have_, ttl, l);
    if (kept.is_unknown()) co_return answer<grant>::unknown(std::move(kept.why()));
    starts_over_ = kept.is_no() || i.now() >= deadline;
    if (starts_over_) co_return answer<grant>::unknown(failure::late("one of several was lost meanwhile"));
    deadline = nearest_deadline();
  }
  const grant all{parts_[first_given_].fence, 1, deadline};
  co_return answer<grant>::yes(all);
}

task<wake> bundle::wakeup(io& i, limit l) {
  if (have_ == parts_.size()) co_return wake::signalled;
  const instant now = i.now();
  const instant ends = nearest_deadline();
  const instant care = ends == never ? never : now + std::max(ends - now, span(0)) / 2;
  const limit nearer(std::min(l.at(), care), l.stop());
  const wake why = co_await parts_[have_].place->wakeup(i, nearer);
  co_return why == wake::late&& care < l.at() ? wake::signalled : why;
}

// Releases every part, and leaves the queue too: waiting for an earlier name while holding a later one could deadlock.
task<answer<done>> bundle::start_over(io& i, limit l) {
  starts_over_ = true;
  answer<done> gone = co_await release_first(i, known_, l);
  if (gone.is_unknown()) co_return gone;
  for (part& p : parts_) {
    p.spec.owner = owner_id::of(i.random(), i.random());  // a late reply must not concern the new claims
    p.place = backend_.open(p.spec);
    p.gone = false;
  }
  have_ = known_ = 0;
  in_turn_ = starts_over_ = false;
  co_return gone;
}

task<answer<instant>> bundle::renew(io& i, milliseconds ttl, limit l) {
  answer<instant> kept = co_await renew_first(i, parts_.size(), ttl, l);
  starts_over_ = starts_over_ || kept.is_no();  // the other parts stay ours until the holder knows of the loss
  co_return kept;
}

task<answer<done>> bundle::release(io& i, limit l) {
  answer<done> gone = co_await release_first(i, known_, l);
  co_return gone;
}

task<answer<done>> bundle::take_all(io&, limit) { co_return answer<done>::no(); }

task<answer<instant>> bundle::renew_first(io& i, std::size_t some, milliseconds ttl, limit l) {
  instant deadline = never;
  std::optional<failure> why;
  for (std::size_t n = 0; n < some; ++n) {
    part& p = parts_[n];
    answer<instant> kept = co_await p.place->renew(i, ttl, l);
    if (kept.is_no()) co_return kept;
    if (kept.is_unknown()) {
      why = std::move(kept.why());
    } else {
      p.deadline = std::max(p.deadline, kept.value());
      deadline = std::min(deadline, kept.value());
    }
  }
  co_return why ? answer<instant>::unknown(std::move(*why)) : answer<instant>::yes(deadline);
}

task<answer<done>> bundle::release_first(io& i, std::size_t some, limit l) {
  bool all_ours = true;
  busy others;
  others.asked = false;
  std::optional<failure> why;
  for (std::size_t n = 0; n < some; ++n) {
    part& p = parts_[n];
    if (p.gone) continue;
    answer<done> gone = co_await p.place->release(i, l);
    if (gone.is_unknown()) {
      why = std::move(gone.why());
    } else {
      p.gone = true;
      others.asked = others.asked || gone.is_yes() || gone.who().asked;
      all_ours = all_ours && gone.is_yes();
    }
  }
  if (why) co_return answer<done>::unknown(std::move(*why));
  co_return all_ours ? answer<done>::yes(done()) : answer<done>::no(std::move(others));
}

}  // namespace holdfast::storage
