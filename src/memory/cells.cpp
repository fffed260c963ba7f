#include "memory/cells.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::memory {

namespace {

std::int64_t microseconds(runtime::instant t) {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}

}  // namespace

storage::reading cells::get(const std::string& name, runtime::instant now) const {
  return table_.with([&](const table& t) {
    const auto at = t.named.find(name);
    return read_cell(at == t.named.end() ? std::nullopt : at->second.record, microseconds(now));
  });
}

storage::answer<std::uint64_t> cells::put(const std::string& name, std::uint64_t seen, const storage::change& wanted,
                                          runtime::instant now) {
  return table_.with([&](table& t) {
    tidy(t, microseconds(now));
    entry& e = t.named[name];
    storage::put_result result = put_cell(e.record, seen, wanted, microseconds(now));
    if (result.tell) {
      for (runtime::signal* each : e.watchers) each->set();
    }
    return std::move(result.said);
  });
}

bool cells::watch(const std::string& name, const storage::reading& seen, runtime::signal& who, runtime::instant now) {
  return table_.with([&](table& t) {
    entry& e = t.named[name];
    if (has_changed(e.record, seen, microseconds(now))) return false;
    e.watchers.push_back(&who);
    return true;
  });
}

void cells::forget(const std::string& name, const runtime::signal& who) noexcept {
  table_.with([&](table& t) {
    const auto at = t.named.find(name);
    if (at != t.named.end()) std::erase(at->second.watchers, &who);
  });
}

void cells::clear() {
  table_.with([](table& t) {
    for (auto& [name, e] : t.named) {
      e.record.reset();
      for (runtime::signal* each : e.watchers) each->set();
    }
  });
}

std::size_t cells::size() const noexcept {
  return table_.with([](const table& t) { return t.named.size(); });
}

// Only now and then, so that it costs each call next to nothing.
void cells::tidy(table& t, std::int64_t now) {
  if (t.named.size() < t.tidy_at) return;
  std::erase_if(t.named, [&](const auto& each) {
    const entry& e = each.second;
    return e.watchers.empty() && (!e.record || e.record->forgettable(now));
  });
  t.tidy_at = std::max<std::size_t>(64, 2 * t.named.size());
}

}  // namespace holdfast::memory
