#include "memory/server.hpp"

#include <algorithm>
#include <utility>

#include "runtime/fork.hpp"

namespace holdfast::memory {

namespace {

/// The named servers of this process. A fork begins with none: the servers that it sees are copies, with mutexes that
/// threads of the parent may hold.
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
    const storage::claim_spec& wanted = p.spec_;
    entry& e = entry_of(t, wanted.name);
    t.waiting.try_emplace(wanted.owner, &p);
    using mode = storage::lock_queue::mode;
    const mode how = wanted.barges ? mode::unfair : wanted.queue ? mode::queue : mode::once;
    const storage::lock_queue::holder* const mine =
        e.claims.acquire({wanted.owner, wanted.wants, wanted.ttl, wanted.label, now}, how, now);
    if (!e.claims.waits(wanted.owner)) t.waiting.erase(wanted.owner);
    if (mine != nullptr) return {true, mine->fence, fences_of(mine->part), mine->expires, {}};
    const auto& holders = e.claims.holders();
    const auto first = std::ranges::min_element(holders, {}, &storage::lock_queue::holder::expires);
    if (first == holders.end()) return {false, 0, 0, now, {}};
    return {false, 0, 0, first->expires, first->label};
  });
}

bool server::renew(const party& p, milliseconds ttl, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    return at != t.locks.end() && at->second.claims.renew(p.spec_.owner, ttl, now);
  });
}

bool server::downgrade(const party& p, std::uint64_t fence, milliseconds ttl, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    return at != t.locks.end() && at->second.claims.downgrade(p.spec_.owner, fence, ttl, now);
  });
}

bool server::release(party& p, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    if (at == t.locks.end()) return false;
    entry& e = at->second;
    const bool was_there = e.claims.release(p.spec_.owner, p.spec_.barges, now);
    t.waiting.erase(p.spec_.owner);
    if (e.claims.idle()) t.locks.erase(at);
    return was_there;
  });
}

void server::resize(const std::string& name, std::uint32_t whole, instant now) {
  table_.with([&](table& t) {
    const auto at = t.locks.find(name);
    if (at == t.locks.end()) return;
    storage::lock_queue& claims = at->second.claims;
    if (claims.whole() == storage::share::lock) throw storage::disagreement(claims.whole(), whole);
    claims.resize(whole, now);
  });
}

void server::leave(party& p) noexcept {
  table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    if (t.waiting.erase(p.spec_.owner) != 0 && at != t.locks.end()) at->second.claims.leave(p.spec_.owner);
  });
}

void server::add(storage::backend_events& client) {
  clients_.with([&](auto& all) { all.push_back(&client); });
}

void server::remove(storage::backend_events& client) noexcept {
  clients_.with([&](auto& all) { std::erase(all, &client); });
}

server::entry& server::entry_of(table& t, const std::string& name) {
  const auto next_fence = [&t](const storage::share& wants) {
    return std::exchange(t.last_fence, t.last_fence + fences_of(wants.part)) + 1;
  };
  const auto notify = [&t](const storage::owner_id& owner) {
    const auto at = t.waiting.find(owner);
    const bool lost = t.wanted.lose_pushes != 0 && t.pushes++ % t.wanted.lose_pushes == 0;
    if (!lost && at != t.waiting.end()) at->second->granted_.set();
  };
  const auto at = t.locks.find(name);
  if (at != t.locks.end()) return at->second;
  return t.locks.try_emplace(name, entry{storage::lock_queue(next_fence, notify)}).first->second;
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
    for (const auto& [owner, p] : t.waiting) p->granted_.set();
    t.waiting.clear();
    t.locks.clear();
    t.broken.clear();
  });
  cells_.clear();
}

std::size_t server::size() const noexcept {
  return table_.with([](const table& t) { return t.locks.size(); });
}

}  // namespace holdfast::memory
