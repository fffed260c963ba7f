#include "chaos/conditions.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::chaos {

namespace {

constexpr std::int64_t settled = std::chrono::nanoseconds(settling).count();
constexpr std::int64_t longest = 60'000'000'000;  // longer than any fault
constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

std::string shown(const hold& h) {
  return "party " + std::to_string(h.party) + " (" + locks[h.lock].name + ", fence " + std::to_string(h.fence) +
         ", asked " + std::to_string(h.called) + ", held " + std::to_string(h.granted) + " to " +
         std::to_string(h.until()) + ")";
}

bool share_it(const hold& a, const hold& b) { return a.part != 0 && b.part != 0; }

/// A later holder has a higher fence, except that concurrent readers share one.
bool in_order(const hold& earlier, const hold& later) {
  return later.fence > earlier.fence || (share_it(earlier, later) && later.fence == earlier.fence);
}

/// Holds and the times of their calls. A hold that one thread of a process handed over to another counts from the call
/// of the first; their fences are from one block. Where holders never overlap, that makes no difference.
std::vector<std::pair<std::int64_t, const hold*>> with_calls(const std::vector<hold>& of_one_lock, bool exclusion) {
  constexpr std::uint64_t block = 16;  // open_options::burst
  std::vector<std::pair<std::int64_t, const hold*>> all;
  std::map<std::uint32_t, std::pair<std::int64_t, const hold*>> last;  // by process
  for (const hold& h : of_one_lock) {
    const auto before = last.find(process_of(h.party));
    const bool handed_on = !exclusion && before != last.end() && h.fence > before->second.second->fence &&
                           h.fence - before->second.second->fence < block;
    all.emplace_back(handed_on ? std::min(before->second.first, h.called) : h.called, &h);
    last[process_of(h.party)] = all.back();
  }
  return all;
}

}  // namespace

void fault_times::see(const event& e) {
  if (e.what != event::kind::fault || e.lock == naive_lock) return;
  if (e.yes) {
    running_[e.value] = spans_.size();
    spans_.push_back({e.at, endless});
  } else if (const auto its = running_.find(e.value); its != running_.end()) {
    spans_[its->second].to = e.at + settled;
    running_.erase(its);
  }
}

bool fault_times::fault_free(std::int64_t from, std::int64_t to) const {
  for (auto s = spans_.rbegin(); s != spans_.rend() && s->from > from - longest; ++s) {
    if (s->from <= to && from <= s->to) return false;
  }
  return true;
}

std::int64_t lateness::at(double quantile) const {
  if (all.empty()) return 0;
  std::vector<std::int64_t> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))];
}

violations fences_out_of_order(const std::vector<hold>& of_one_lock, bool exclusion) {
  violations found;
  const auto compare = [&](const hold& earlier, const hold& later) {
    if (!in_order(earlier, later)) found.push_back({1, later.granted, shown(later) + " came after " + shown(earlier)});
  };
  const hold* last = nullptr;  // the previous holder
  for (const hold& h : of_one_lock) {
    if (!exclusion || !h.believed()) continue;
    if (last != nullptr && last->granted >= h.called) compare(*last, h);
    last = &h;
  }
  std::vector<std::pair<std::int64_t, const hold*>> by_call = with_calls(of_one_lock, exclusion);
  std::sort(by_call.begin(), by_call.end());
  const hold* highest = nullptr;  // of the holds granted before this call
  std::size_t next = 0;
  for (const auto& [called, h] : by_call) {
    for (; next < of_one_lock.size() && of_one_lock[next].granted < called; ++next) {
      if (highest == nullptr || of_one_lock[next].fence > highest->fence) highest = &of_one_lock[next];
    }
    if (highest != nullptr) compare(*highest, *h);
  }
  return found;
}

violations resource_check::see(const event& e) {
  using kind = event::kind;
  violations found;
  const std::string who =
      "party " + std::to_string(e.party) + " at " + locks[e.lock].name + " with fence " + std::to_string(e.fence);
  switch (e.what) {
    case kind::reads:
    case kind::writes: {
      counter& c = fenced_[e.lock];
      if (!e.yes) {
        ++refused_;
        break;
      }
      if (e.fence < c.top) found.push_back({2, e.at, who + " was admitted after " + std::to_string(c.top)});
      c.top = std::max(c.top, e.fence);
      if (e.what == kind::reads && e.value != c.value) {
        found.push_back({2, e.at, who + " read " + std::to_string(e.value) + ", not " + std::to_string(c.value)});
      }
      if (e.what == kind::reads) break;
      if (e.value != c.value + 1) found.push_back({2, e.at, who + " overwrote " + std::to_string(c.value)});
      c.value = e.value;
      ++updates_;
      break;
    }
    case kind::pokes: {
      counter& c = unfenced_[e.lock];
      if (e.value != c.value + 1) ++c.lost;
      c.value = e.value;
      break;
    }
    default: break;
  }
  return found;
}

violations overlaps(const std::vector<hold>& of_one_lock, std::int64_t& time) {
  violations found;
  std::vector<const hold*> inside;
  for (const hold& h : of_one_lock) {
    if (!h.believed()) continue;
    std::erase_if(inside, [&](const hold* other) { return other->until() <= h.granted; });
    unsigned taken = h.part;
    for (const hold* other : inside) {
      taken += other->part;
      if (share_it(h, *other)) continue;
      time += std::min(h.until(), other->until()) - h.granted;
      found.push_back({3, h.granted, shown(h) + " and " + shown(*other)});
    }
    if (locks[h.lock].what == lock::kind::permits && taken > locks[h.lock].permits) {
      found.push_back({3, h.granted, shown(h) + " makes " + std::to_string(taken) + " permits"});
    }
    inside.push_back(&h);
  }
  return found;
}

violations late_hand_offs(const std::vector<hold>& of_one_lock, const fault_times& w, std::int64_t slack,
                          lateness& all) {
  violations found;
  for (std::size_t n = 1; n < of_one_lock.size(); ++n) {
    const hold &before = of_one_lock[n - 1], &h = of_one_lock[n];
    const bool waited = h.called < before.over && h.granted > before.over;
    if (before.ending != hold::end::released || !waited || !w.fault_free(before.over, h.granted)) continue;
    all.all.push_back(h.granted - before.over);
    if (all.all.back() > slack)
      found.push_back({4, h.granted, shown(h) + " waited for what " + shown(before) + " left"});
  }
  return found;
}

violations late_orphans(const std::vector<hold>& of_one_lock, const fault_times& w, std::int64_t slack, lateness& all) {
  violations found;
  for (const hold& dead : of_one_lock) {
    if (dead.ending != hold::end::died || !dead.believed()) continue;
    const auto next = std::upper_bound(of_one_lock.begin(), of_one_lock.end(), dead.over,
                                       [](std::int64_t at, const hold& h) { return at < h.granted; });
    const std::int64_t due = dead.over + dead.ttl;
    if (next == of_one_lock.end() || next->called > due || !w.fault_free(dead.over, next->granted)) continue;
    all.all.push_back(std::max<std::int64_t>(0, next->granted - due));
    if (all.all.back() > slack) found.push_back({5, next->granted, shown(*next) + " waited for dead " + shown(dead)});
  }
  return found;
}

violations recovery_check::see(const event& e) {
  using kind = event::kind;
  const std::string who = "party " + std::to_string(e.party) + ", " + locks[e.lock].name;
  switch (e.what) {
    case kind::healed: healed_ = e.at; break;
    case kind::calls: calls_[e.party] = e; break;
    case kind::busy:
    case kind::failed: {
      const event& call = calls_[e.party];
      const bool had_time = call.deadline - call.at >= slack_;
      if (!healed_ || call.at < *healed_ + settled || !had_time) break;
      return {{6, e.at, who + " did not get the lock although no fault was active"}};
    }
    case kind::probe:
      if (!e.yes) return {{6, e.at, who + " cannot be acquired any more"}};
      break;
    case kind::leftover: return {{6, e.at, std::string("left behind: ") + e.text}};
    case kind::died:
      if (!e.yes && e.value != 0) return {{6, e.at, who + " ended with " + std::to_string(e.value)}};
      break;
    case kind::stock: {
      const auto [first, is_first] = stock_.try_emplace(process_of(e.party), e);
      const bool more = e.value > first->second.value + 40 || e.deadline > first->second.deadline + 20;
      if (is_first || !more) break;
      return {{6, e.at,
               who + " has " + std::to_string(e.value) + " files and " + std::to_string(e.deadline) +
                   " threads, and had " + std::to_string(first->second.value) + " and " +
                   std::to_string(first->second.deadline)}};
    }
    default: break;
  }
  return {};
}

violations losses::see(const event& e) {
  using kind = event::kind;
  const std::string who =
      "party " + std::to_string(e.party) + ", " + locks[e.lock].name + ", fence " + std::to_string(e.fence);
  switch (e.what) {
    case kind::granted: over_[e.party] = false; break;
    case kind::believes:
      if (e.at >= e.deadline) return {{7, e.at, who + " is held beyond its deadline"}};
      if (over_[e.party]) return {{7, e.at, who + " is held again after its loss"}};
      break;
    case kind::doubts:
      over_[e.party] = true;
      ++count_;
      break;
    case kind::told:
      over_[e.party] = true;
      told_.all.push_back(std::max<std::int64_t>(0, e.at - e.deadline));
      break;
    case kind::untold: return {{7, e.at, who + " was lost, and its holder was not notified"}};
    case kind::released:
      if (e.value == 0 && over_[e.party]) return {{7, e.at, who + " was lost, and its release returned yes"}};
      break;
    default: break;
  }
  return {};
}

violations runs::see(const event& e) {
  using kind = event::kind;
  switch (e.what) {
    case kind::runs: all_[e.value].at = e.at; break;
    case kind::began:
      if (++all_[e.value].began > 1)
        return {{8, e.at, "run " + std::to_string(e.value) + " started its command twice"}};
      break;
    case kind::ended: all_[e.value].command = e.deadline; break;
    case kind::ran: all_[e.value].program = e.deadline; break;
    default: break;
  }
  return {};
}

violations runs::finish() const {
  enum : std::int64_t { unreachable = 69, busy = 75, lost = 79, uncertain = 80 };
  violations found;
  for (const auto& [number, r] : all_) {
    if (!r.program || *r.program < 0) continue;  // killed on purpose
    const std::int64_t code = *r.program;
    const bool fits = code == unreachable || code == busy ? r.began == 0
                      : code == lost                      ? true
                      : code == uncertain                 ? r.command.has_value()
                                                          : r.command == code;
    if (fits) continue;
    found.push_back({8, r.at,
                     "run " + std::to_string(number) + " ended with " + std::to_string(code) +
                         (r.began == 0 ? ", its command did not begin"
                          : r.command  ? ", its command with " + std::to_string(*r.command)
                                       : ", its command did not end")});
  }
  return found;
}

}  // namespace holdfast::chaos
