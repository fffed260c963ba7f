#include "redis/transport/connection_pool.hpp"

#include <algorithm>

namespace holdfast::redis {

reply connection_pool::call(const command& what, const limit& l, std::optional<abandoned_command>* abandoned) {
  return call_by(choose(), what, l, abandoned);
}

std::optional<reply> connection_pool::call_if_open(const command& what, const limit& l,
                                                   std::optional<abandoned_command>* abandoned) {
  const chosen mine = choose_open();
  if (mine.is == nullptr) return std::nullopt;
  return call_by(mine, what, l, abandoned);
}

/// The caller is counted already.
reply connection_pool::call_by(chosen mine, const command& what, const limit& l,
                               std::optional<abandoned_command>* abandoned) {
  const struct leaving {
    pooled_connection& from;
    ~leaving() { from.callers.fetch_sub(1, std::memory_order_relaxed); }
  } at_the_end{*mine.is};
  std::optional<std::uint64_t> connection;
  reply got = mine.is->call(what, l, connection);
  if (connection && abandoned != nullptr)
    *abandoned = abandoned_command{.index = mine.index, .connection = *connection};
  return got;
}

void connection_pool::follow(const abandoned_command& where, const command& what) noexcept {
  all_.with([&](auto& all) { all.at(where.index)->follow(where.connection, what); });
}

/// The first that is idle, so that the last ones stay idle and are closed; else a new one; else the one with the fewest
/// callers.
connection_pool::chosen connection_pool::choose() {
  return all_.with([&](auto& all) -> chosen {
    const auto callers = [](const std::unique_ptr<pooled_connection>& l) {
      return l->callers.load(std::memory_order_relaxed);
    };
    auto best = std::min_element(all.begin(), all.end(),
                                 [&](const auto& one, const auto& other) { return callers(one) < callers(other); });
    const bool all_taken = best == all.end() || callers(*best) != 0;
    if (all_taken && all.size() < dialer_.config().lanes) {
      all.push_back(std::make_unique<pooled_connection>(dialer_, loop_, in_doubt_));
      best = all.end() - 1;
    }
    (*best)->callers.fetch_add(1, std::memory_order_relaxed);
    return {best->get(), static_cast<std::size_t>(best - all.begin())};
  });
}

connection_pool::chosen connection_pool::choose_open() const {
  return all_.with([](const auto& all) -> chosen {
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (!all[n]->is_open()) continue;
      all[n]->callers.fetch_add(1, std::memory_order_relaxed);
      return {all[n].get(), n};
    }
    return {nullptr, 0};
  });
}

bool connection_pool::any_open() const noexcept {
  return all_.with(
      [](const auto& all) { return std::ranges::any_of(all, [](const auto& l) { return l->is_open(); }); });
}

bool connection_pool::close_idle_since(runtime::instant then, bool keep_one) noexcept {
  return all_.with([&](auto& all) {
    bool some_left = false;
    for (const auto& l : all) {
      const bool kept = keep_one && l->is_open();
      keep_one = keep_one && !kept;
      some_left = kept || !l->close_if_idle_since(then) || some_left;
    }
    return some_left;
  });
}

void connection_pool::invalidate(const storage::failure& why) noexcept {
  all_.with([&](auto& all) {
    for (const auto& l : all) l->invalidate(why);
  });
}

}  // namespace holdfast::redis
