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

server::holding* server::entry::find(const seam::owner_id& who) noexcept {
  for (holding& h : holders) {
    if (h.owner == who) return &h;
  }
  return nullptr;
}

bool server::entry::has_room_for(const party& p) const noexcept { return used + p.spec().wants.part <= whole; }

void server::entry::drop_expired(instant now) noexcept {
  std::erase_if(holders, [&](const holding& h) {
    if (h.expires > now) return false;
    used -= h.part;
    return true;
  });
}

void server::entry::remove(const seam::owner_id& who) noexcept {
  std::erase_if(holders, [&](const holding& h) {
    if (h.owner != who) return false;
    used -= h.part;
    return true;
  });
}

server::state_of server::acquire(party& p, instant now) {
  return table_.with([&](table& t) -> state_of {
    const seam::claim_spec& wanted = p.spec_;
    entry& e = t.locks[wanted.name];
    e.drop_expired(now);
    if (e.idle()) e.whole = wanted.wants.whole;
    holding* mine = e.find(wanted.owner);
    if (mine == nullptr && wanted.barges && e.has_room_for(p)) {
      take_out_of_line(e, p);
      mine = &give(t, e, p, now);
    } else {
      serve(t, e, now);  // whoever polls unblocks the head
      mine = e.find(wanted.owner);
    }
    // Only those who come: a semaphore that was resized does not turn away who is there.
    const bool is_new = mine == nullptr && !p.place_;
    if (is_new && e.whole != wanted.wants.whole) throw seam::disagreement(e.whole, wanted.wants.whole);
    if (mine != nullptr) {
      mine->expires = std::max(mine->expires, now + wanted.ttl);
    } else if (e.line.empty() && e.has_room_for(p)) {
      mine = &give(t, e, p, now);
    }
    if (mine != nullptr)
      return {true, mine->fence, wanted.wants.exclusive() ? fences_in_a_block : 1, mine->expires, {}};
    if (wanted.queue && !p.place_) {
      p.place_ = e.line.insert(e.line.end(), &p);
      p.came_ = now;
    }
    const auto first = std::min_element(e.holders.begin(), e.holders.end(),
                                        [](const auto& one, const auto& other) { return one.expires < other.expires; });
    if (first == e.holders.end()) return {false, 0, 0, now, {}};
    return {false, 0, 0, first->expires, first->label};
  });
}

bool server::renew(const party& p, milliseconds ttl, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    holding* const mine = at == t.locks.end() ? nullptr : at->second.find(p.spec_.owner);
    if (mine == nullptr || mine->expires <= now) return false;
    mine->expires = std::max(mine->expires, now + ttl);
    return true;
  });
}

bool server::downgrade(const party& p, std::uint64_t fence, milliseconds ttl, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    holding* const mine = at == t.locks.end() ? nullptr : at->second.find(p.spec_.owner);
    if (mine == nullptr || mine->expires <= now) return false;
    entry& e = at->second;
    e.used -= mine->part - 1;
    mine->part = 1;
    mine->fence = fence;
    mine->expires = std::max(mine->expires, now + ttl);
    serve(t, e, now);
    return true;
  });
}

bool server::release(party& p, instant now) {
  return table_.with([&](table& t) {
    const auto at = t.locks.find(p.spec_.name);
    if (at == t.locks.end()) return false;
    entry& e = at->second;
    e.drop_expired(now);
    const bool held = e.find(p.spec_.owner) != nullptr;
    const bool was_there = held || p.place_;
    e.remove(p.spec_.owner);
    take_out_of_line(e, p);
    if (held && p.spec_.barges && !e.line.empty()) {
      e.line.front()->granted_.set();  // it is free for whoever comes first
    } else {
      serve(t, e, now);
    }
    if (e.idle()) t.locks.erase(at);
    return was_there;
  });
}

void server::resize(const std::string& name, std::uint32_t whole, instant now) {
  table_.with([&](table& t) {
    const auto at = t.locks.find(name);
    if (at == t.locks.end()) return;
    if (at->second.whole == seam::share::lock) throw seam::disagreement(at->second.whole, whole);
    at->second.whole = whole;
    serve(t, at->second, now);
  });
}

void server::leave(party& p) noexcept {
  table_.with([&](table& t) {
    if (p.place_) take_out_of_line(t.locks.find(p.spec_.name)->second, p);
  });
}

void server::add(const hearer& who) {
  hearers_.with([&](auto& all) { all.push_back(&who); });
}

void server::remove(const hearer& who) noexcept {
  hearers_.with([&](auto& all) { std::erase(all, &who); });
}

/// In order of arrival, for as long as the first has room.
void server::serve(table& t, entry& e, instant now) {
  e.drop_expired(now);
  while (!e.line.empty() && e.has_room_for(*e.line.front())) {
    party& first = *e.line.front();
    (void)give(t, e, first, now);
    take_out_of_line(e, first);
    const bool lost = t.wanted.lose_pushes != 0 && t.pushes++ % t.wanted.lose_pushes == 0;
    if (!lost) first.granted_.set();
  }
}

server::holding& server::give(table& t, entry& e, const party& p, instant now) {
  const seam::claim_spec& to = p.spec_;
  const bool joins = to.wants == seam::share::reader() && !e.holders.empty();
  const std::uint64_t fence = joins ? e.holders.front().fence : t.last_fence + 1;
  const instant since = joins ? e.holders.front().since : now;
  e.holders.push_back({to.owner, to.wants.part, now + to.ttl, to.label, fence, since});
  if (!joins) t.last_fence += to.wants.exclusive() ? fences_in_a_block : 1;
  e.used += to.wants.part;
  return e.holders.back();
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
    t.broken.clear();
  });
  cells_.clear();
}

std::size_t server::size() const noexcept {
  return table_.with([](const table& t) { return t.locks.size(); });
}

}  // namespace holdfast::memory
