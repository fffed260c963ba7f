#include "chaos/checker.hpp"

#include <algorithm>
#include <ostream>

namespace holdfast::chaos {

namespace {

constexpr std::int64_t minute = 60'000'000'000;

double in_ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

void checker::see(const event& e) {
  using kind = event::kind;
  now_ = std::max(now_, e.at);
  holds_.see(e);
  fault_times_.see(e);
  add(resource_check_.see(e));
  if (e.lock != naive_lock || e.what == kind::died) add(recovery_.see(e));
  if (e.lock != naive_lock) add(losses_.see(e));
  add(runs_.see(e));
  if (e.what == kind::granted || e.what == kind::began) {
    ++by_lock_[e.lock];
    grants_ += e.lock == naive_lock ? 0 : 1;
  }
  busy_ += e.what == kind::busy ? 1 : 0;
  failed_ += e.what == kind::failed ? 1 : 0;
  deaths_ += e.what == kind::died && e.yes ? 1 : 0;
  if (e.what == kind::fault && e.yes) {
    ++faults_;
    ++by_fault_[e.text];
  }
}

void checker::look() { last_ = compare(now_ - minute); }

void checker::finish() {
  holds_.finish();
  last_ = compare(0);
  add(runs_.finish());
}

checker::comparison checker::compare(std::int64_t since) {
  comparison c;
  for (std::uint8_t n = 0; n < lock_count; ++n) {
    std::vector<hold> all;
    for (const hold& h : closed_[n]) {
      if (h.granted >= since) all.push_back(h);
    }
    std::sort(all.begin(), all.end(), [](const hold& a, const hold& b) { return a.granted < b.granted; });
    if (n == naive_lock) {
      std::int64_t ignored = 0;
      c.naive_overlaps = overlaps(all, ignored).size();
      continue;
    }
    const violations two = overlaps(all, c.overlap_time);
    if (promised_.exclusion) add(two);
    c.uncounted += promised_.exclusion ? 0 : two.size();
    if (locks[n].what != lock::kind::permits) {
      const violations back = fences_out_of_order(all, promised_.exclusion);
      if (promised_.fences_grow) add(back);
      c.uncounted += promised_.fences_grow ? 0 : back.size();
    }
    if (locks[n].what != lock::kind::exclusive) continue;
    add(late_hand_offs(all, fault_times_, slack_, c.hand_off));
    add(late_orphans(all, fault_times_, slack_, c.orphan));
  }
  return c;
}

void checker::add(const violations& those) {
  for (const violation& v : those) {
    if (known_.insert(std::to_string(v.condition) + v.what).second) found_.push_back(v);
  }
}

bool checker::naive_failed() const { return resource_check_.lost_unfenced(naive_lock) > 0 || last_.naive_overlaps > 0; }

void checker::figures(std::ostream& out) const {
  std::uint64_t lost = 0;
  for (std::size_t n = 0; n < naive_lock; ++n) lost += resource_check_.lost_unfenced(n);
  out << grants_ << " grants, " << busy_ << " busy, " << failed_ << " failed, " << losses_.count() << " losses, "
      << deaths_ << " killed, " << runs_.count() << " runs of the program\n"
      << resource_check_.updates() << " updates with a fence, " << resource_check_.refused() << " refused; " << lost
      << " updates lost where no fence is checked\n"
      << last_.uncounted << " overlaps or fences out of order where that is not promised, for "
      << in_ms(last_.overlap_time) << " ms in all\n"
      << "hand-off without faults: p50 " << in_ms(last_.hand_off.at(0.5)) << " ms, p99 "
      << in_ms(last_.hand_off.at(0.99)) << " ms of " << last_.hand_off.all.size() << "; after a death: ttl + "
      << in_ms(last_.orphan.at(1)) << " ms at most of " << last_.orphan.all.size() << "; a loss is reported "
      << in_ms(losses_.told().at(1)) << " ms after the deadline at most of " << losses_.told().all.size() << '\n'
      << "the naive lock: " << last_.naive_overlaps << " overlaps, " << resource_check_.lost_unfenced(naive_lock)
      << " updates lost\n"
      << faults_ << " faults:";
  for (const auto& [name, count] : by_fault_) out << ' ' << name << ' ' << count << ',';
  out << '\n';
}

}  // namespace holdfast::chaos
