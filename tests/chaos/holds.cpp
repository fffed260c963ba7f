#include "chaos/holds.hpp"

#include <algorithm>

namespace holdfast::chaos {

namespace {

constexpr std::int64_t ms = 1'000'000;

hold::end ending_of(std::int64_t said) {
  return said == 0 ? hold::end::released : said == 1 ? hold::end::lost : hold::end::unknown;
}

}  // namespace

void holds::see(const event& e) {
  using kind = event::kind;
  const auto mine = open_.find(e.party);
  const bool has = mine != open_.end();
  switch (e.what) {
    case kind::calls: calls_[e.party] = e; break;
    case kind::granted: {
      const event& call = calls_[e.party];
      open_[e.party] = {.party = e.party,
                        .lock = e.lock,
                        .part = e.part,
                        .fence = e.fence,
                        .ttl = call.value * ms,
                        .called = call.at,
                        .granted = e.at,
                        .deadline = e.deadline};
      break;
    }
    case kind::believes:
      if (has) mine->second.deadline = std::max(mine->second.deadline, e.deadline);
      break;
    case kind::doubts:
    case kind::told:
    case kind::releases:
      if (has && mine->second.over == 0) mine->second.over = e.at;
      break;
    case kind::released:
      if (has) mine->second.ending = ending_of(e.value);
      close(e.party);
      break;
    case kind::died: {
      const std::uint32_t first = process_of(e.party) * threads;
      for (std::uint32_t party = first; party < first + threads; ++party) {
        const auto its = open_.find(party);
        if (its == open_.end()) continue;
        its->second.ending = hold::end::died;
        if (its->second.over == 0) its->second.over = e.at;
        close(party);
      }
      break;
    }
    case kind::runs: runs_[e.value] = e; break;
    case kind::began: {  // a command has no deadline, so it counts for the order of fences only
      const event& run = runs_[e.value];
      closed_({.party = e.party,
               .lock = e.lock,
               .ending = hold::end::unknown,
               .fence = e.fence,
               .ttl = run.deadline * ms,
               .called = run.at,
               .granted = e.at,
               .deadline = e.at,
               .over = e.at});
      break;
    }
    case kind::ran: runs_.erase(e.value); break;
    default: break;
  }
}

void holds::finish() {
  while (!open_.empty()) close(open_.begin()->first);
}

void holds::close(std::uint32_t party) {
  const auto its = open_.find(party);
  if (its == open_.end()) return;
  closed_(its->second);
  open_.erase(its);
}

}  // namespace holdfast::chaos
