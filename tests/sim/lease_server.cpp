#include "sim/lease_server.hpp"

#include <algorithm>

#include "planted.hpp"

namespace holdfast::sim {

using seam::share;

lease_server::holding* lease_server::lock::find(const seam::owner_id& who) noexcept {
  for (holding& h : holders) {
    if (h.owner == who) return &h;
  }
  return nullptr;
}

bool lease_server::lock::has_room_for(const share& wants) const noexcept {
  if (planted(bug::reader_beside_writer) && wants == share::reader()) return true;
  if (planted(bug::writer_beside_readers) && wants.exclusive()) return used < share::lock;
  return used + wants.part <= whole;
}

void lease_server::lock::drop_expired(instant now) {
  std::erase_if(line, [&](const place& p) { return p.expires <= now; });
  std::erase_if(holders, [&](const holding& h) {
    if (h.expires > now) return false;
    if (!planted(bug::dead_keep_their_permits)) used -= h.part;
    return true;
  });
}

bool lease_server::lock::remove(const seam::owner_id& who) {
  const auto gone = std::erase_if(holders, [&](const holding& h) {
    if (h.owner != who) return false;
    used -= h.part;
    return true;
  });
  return gone > 0;
}

lease_reply lease_server::carry_out(const demand& d) {
  lock& l = locks_[d.name];
  world_.note("server", static_cast<std::uint64_t>(d.what), d.owner.low);
  l.drop_expired(clock_.now());
  switch (d.what) {
    case demand::kind::acquire: return acquire(l, d);
    case demand::kind::release: return release(l, d);
    case demand::kind::downgrade: return downgrade(l, d);
    case demand::kind::resize:
      l.whole = d.wants.whole;
      serve(l);
      return {.yes = true};
    case demand::kind::renew: break;
  }
  holding* const mine = l.find(d.owner);
  if (mine == nullptr) return {};
  mine->expires = std::max(mine->expires, clock_.now() + d.ttl);  // an old request may arrive late: it must not shorten
  return {.yes = true};
}

lease_reply lease_server::acquire(lock& l, const demand& d) {
  const instant now = clock_.now();
  const auto same = [&](const place& p) { return p.owner == d.owner; };
  const place asked{d.owner, d.from, d.wants, d.ttl, now + place_ttl};
  if (l.holders.empty() && l.line.empty()) l.whole = d.wants.whole;
  for (place& p : l.line) {
    if (same(p)) p.expires = asked.expires;
  }
  serve(l);
  holding* mine = l.find(d.owner);
  const bool is_new = mine == nullptr && std::none_of(l.line.begin(), l.line.end(), same);
  if (is_new && l.whole != d.wants.whole) return {.foreign = true};
  if (mine == nullptr && l.line.empty() && l.has_room_for(d.wants)) mine = &give(l, asked);
  if (mine != nullptr) {
    mine->expires = std::max(mine->expires, now + d.ttl);
    return {.yes = true, .fence = mine->fence};
  }
  if (d.queue && is_new) l.line.push_back(asked);
  instant first = now + place_ttl;
  for (const holding& h : l.holders) first = std::min(first, h.expires);
  return {.left = first - now};
}

lease_reply lease_server::release(lock& l, const demand& d) {
  const bool waited = std::erase_if(l.line, [&](const place& p) { return p.owner == d.owner; }) > 0;
  const bool held = l.remove(d.owner);
  if (planted(bug::permits_given_back_twice) && !held && !d.wants.of_a_lock()) l.used -= d.wants.part;
  serve(l);
  return {.yes = waited || held};
}

lease_reply lease_server::downgrade(lock& l, const demand& d) {
  holding* mine = l.find(d.owner);
  if (mine == nullptr || d.fence < mine->fence) return {};  // of an earlier grant: it was under way for long
  if (planted(bug::gap_in_downgrade)) {
    const holding was = *mine;
    l.remove(d.owner);
    serve(l);
    mine = &l.holders.emplace_back(was);
    l.used += was.part;
  }
  l.used -= mine->part - 1;
  mine->part = 1;
  mine->fence = d.fence;
  mine->expires = std::max(mine->expires, clock_.now() + d.ttl);
  serve(l);
  return {.yes = true};
}

lease_server::holding& lease_server::give(lock& l, const place& p) {
  const bool joins = p.wants == share::reader() && !l.holders.empty() && !planted(bug::readers_with_own_fences);
  const std::uint64_t fence = joins ? l.holders.front().fence : mint();
  l.used += p.wants.part;
  return l.holders.emplace_back(holding{p.owner, p.client, p.wants.part, clock_.now() + p.ttl, fence});
}

/// The first of the next block: above the last one, and never below the clock.
std::uint64_t lease_server::mint() {
  const auto floor = static_cast<std::uint64_t>(clock_.now().time_since_epoch() / std::chrono::microseconds(1));
  const std::uint64_t first = std::max(last_fence_ + 1, floor);
  last_fence_ = first + fences_in_a_block - 1;
  return first;
}

void lease_server::serve(lock& l) {
  while (!l.line.empty() && l.has_room_for(l.line.front().wants)) {
    const place first = l.line.front();
    l.line.erase(l.line.begin());
    (void)give(l, first);
    push_(first.client, first.owner);
  }
}

void lease_server::restart_empty() {
  world_.note("restart", locks_.size());
  locks_.clear();
  last_fence_ = 0;
}

void lease_server::forget_client(int client) {
  for (auto& [name, l] : locks_) {
    std::erase_if(l.line, [&](const place& p) { return p.client == client; });
  }
}

std::string lease_server::leftovers() const {
  std::string all;
  for (const auto& [name, l] : locks_) {
    for (const holding& h : l.holders) {
      if (h.expires > clock_.now()) all += name + " is still held by client " + std::to_string(h.client) + "; ";
    }
    for (const place& p : l.line) {
      if (p.expires > clock_.now()) all += "client " + std::to_string(p.client) + " still queues at " + name + "; ";
    }
  }
  return all;
}

}  // namespace holdfast::sim
