#include "memory/server.hpp"

#include <algorithm>
#include <utility>

#include "runtime/fork.hpp"

namespace holdfast::memory {

namespace {

/// The named servers of this process. A fork begins with none: those that it sees are copies, with locks that may be
/// held by threads that are not there.
struct registry {
  const unsigned generation = runtime::fork_generation();
  runtime::guarded<std::unordered_map<std::string, std::weak_ptr<server>>> servers;

  static registry& of_this_process() {
    static std::atomic<registry*> current{nullptr};
    registry* found = current;
    while (found == nullptr || found->generation != runtime::fork_generation()) {
      auto fresh = std::make_unique<registry>();
      if (current.compare_exchange_strong(found, fresh.get())) return *fresh.release();  // never destroyed
    }
    return *found;
  }
};

}  // namespace

std::shared_ptr<server> server::named(const std::string& name) {
  return registry::of_this_process().servers.with([&](auto& all) {
    std::erase_if(all, [](const auto& s) { return s.second.expired(); });
    std::shared_ptr<server> found = all[name].lock();
    if (!found) all[name] = found = std::make_shared<server>();
    return found;
  });
}

server::state_of server::acquire(party& p, instant now) {
  return table_.with([&](table& t) -> state_of {
    entry& e = t.locks[p.spec_.name];
    if (e.expires <= now && !e.line.empty()) grant_to_first(t, e, now);  // whoever polls unblocks the head
    const bool is_free = e.expires <= now;
    if (is_free || e.owner == p.spec_.owner) {
      take_out_of_line(e, p);
      give(e, p, now);
      const std::uint64_t first = t.last_fence + 1;
      t.last_fence += fences_in_a_block;
      return {true, first, e.expires, {}};
    }
    if (p.spec_.queue && !p.place_) p.place_ = e.line.insert(e.line.end(), &p);
    return {false, 0, e.expires, e.label};
  });
}

bool server::renew(const party& p, milliseconds ttl, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    if (at == t.locks.end() || at->second.owner != p.spec_.owner || at->second.expires <= now) return false;
    at->second.expires = std::max(at->second.expires, now + ttl);
    return true;
  });
}

bool server::release(party& p, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    if (at == t.locks.end()) return false;
    entry& e = at->second;
    const bool was_held = e.owner == p.spec_.owner && e.expires > now;
    const bool was_there = was_held || p.place_;
    take_out_of_line(e, p);
    if (was_held) e.expires = instant::min();
    if (e.expires <= now && !e.line.empty()) grant_to_first(t, e, now);
    if (e.expires <= now && e.line.empty()) t.locks.erase(at);
    return was_there;
  });
}

void server::leave(party& p) noexcept {
  table_.with([&](table& t) {
    if (p.place_) take_out_of_line(t.locks.find(p.spec_.name)->second, p);
  });
}

void server::grant_to_first(table& t, entry& e, instant now) {
  party& first = *e.line.front();
  take_out_of_line(e, first);
  give(e, first, now);
  const bool lost = t.wanted.lose_pushes != 0 && t.pushes++ % t.wanted.lose_pushes == 0;
  if (!lost) first.granted_.set();
}

void server::give(entry& e, const party& p, instant now) {
  if (e.owner != p.spec_.owner) e.expires = now;
  e.owner = p.spec_.owner;
  e.expires = std::max(e.expires, now + p.spec_.ttl);
  e.label = p.spec_.label;
}

void server::take_out_of_line(entry& e, party& p) noexcept {
  if (p.place_) e.line.erase(*std::exchange(p.place_, std::nullopt));
}

void server::set_faults(const faults& f) {
  table_.with([&](table& t) { t.wanted = f; });
  faulty_ = f.lose_requests != 0 || f.lose_replies != 0 || f.refusal;
}

faults server::current_faults() const {
  return table_.with([](const table& t) { return t.wanted; });
}

void server::forget_everything() {
  table_.with([](table& t) {
    for (auto& [name, e] : t.locks) {
      for (party* p : e.line) {
        p->place_.reset();
        p->granted_.set();
      }
    }
    t.locks.clear();
  });
}

std::size_t server::size() const noexcept {
  return table_.with([](const table& t) { return t.locks.size(); });
}

}  // namespace holdfast::memory
