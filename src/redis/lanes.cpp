#include "redis/lanes.hpp"

#include <algorithm>

namespace holdfast::redis {

reply lanes::call(const command& what, const limit& l, std::optional<left_behind>& left) {
  const auto [mine, number] = choose();
  const struct leaving {
    lane& from;
    ~leaving() { from.callers.fetch_sub(1, std::memory_order_relaxed); }
  } at_the_end{mine};
  std::optional<std::uint64_t> connection;
  reply got = mine.call(what, l, connection);
  if (connection) left = left_behind{.lane = number, .connection = *connection};
  return got;
}

void lanes::follow(const left_behind& where, const command& what) noexcept {
  all_.with([&](auto& all) { all.at(where.lane)->follow(where.connection, what); });
}

/// The first that is idle, so that the last ones get to rest; else a new one; else the one with the fewest callers.
std::pair<lane&, std::size_t> lanes::choose() {
  return all_.with([&](auto& all) -> std::pair<lane&, std::size_t> {
    const auto callers = [](const std::unique_ptr<lane>& l) { return l->callers.load(std::memory_order_relaxed); };
    auto best = std::min_element(all.begin(), all.end(),
                                 [&](const auto& one, const auto& other) { return callers(one) < callers(other); });
    const bool all_taken = best == all.end() || callers(*best) != 0;
    if (all_taken && all.size() < dialer_.how().lanes) {
      all.push_back(std::make_unique<lane>(dialer_, loop_, in_doubt_));
      best = all.end() - 1;
    }
    (*best)->callers.fetch_add(1, std::memory_order_relaxed);
    return {**best, static_cast<std::size_t>(best - all.begin())};
  });
}

bool lanes::close_idle_since(runtime::instant then) noexcept {
  return all_.with([&](auto& all) {
    bool some_left = false;
    for (const auto& l : all) some_left = !l->close_if_idle_since(then) || some_left;
    return some_left;
  });
}

void lanes::distrust(const seam::failure& why) noexcept {
  all_.with([&](auto& all) {
    for (const auto& l : all) l->distrust(why);
  });
}

}  // namespace holdfast::redis
