#include "sim/lease_server.hpp"

#include <algorithm>

namespace holdfast::sim {

using storage::lock_queue;

lease_reply lease_server::carry_out(const demand& d) {
  lock_queue& claims = queue_of(d.name);
  const instant now = clock_.now();
  world_.note("server", static_cast<std::uint64_t>(d.what), d.owner.low);
  clients_[d.owner] = d.from;
  claims.drop_expired(now);
  switch (d.what) {
    case demand::kind::acquire: return acquire(claims, d);
    case demand::kind::release: return {.yes = claims.release(d.owner, false, now)};
    case demand::kind::downgrade: return {.yes = claims.downgrade(d.owner, d.fence, d.ttl, now)};
    case demand::kind::renew: return {.yes = claims.renew(d.owner, d.ttl, now)};
    case demand::kind::resize: break;
  }
  claims.resize(d.wants.whole, now);
  return {.yes = true};
}

lease_reply lease_server::acquire(lock_queue& claims, const demand& d) {
  const instant now = clock_.now();
  try {
    const lock_queue::waiter who{d.owner, d.wants, d.ttl, {}, now, now + place_ttl};
    const lock_queue::holder* const mine =
        claims.acquire(who, d.queue ? lock_queue::mode::queue : lock_queue::mode::once, now);
    if (mine != nullptr) return {.yes = true, .fence = mine->fence};
  } catch (const storage::failure&) {
    return {.foreign = true};
  }
  instant first = now + place_ttl;
  for (const lock_queue::holder& h : claims.holders()) first = std::min(first, h.expires);
  return {.left = first - now};
}

lock_queue& lease_server::queue_of(const std::string& name) {
  const auto next_fence = [this](const storage::share&) { return mint(); };
  const auto notify = [this](const storage::owner_id& owner) { push_(clients_.at(owner), owner); };
  return locks_.try_emplace(name, next_fence, notify).first->second;
}

/// Returns the first fence of the next block, which is above the last fence and never below the clock.
std::uint64_t lease_server::mint() {
  const auto floor = static_cast<std::uint64_t>(clock_.now().time_since_epoch() / std::chrono::microseconds(1));
  const std::uint64_t first = std::max(last_fence_ + 1, floor);
  last_fence_ = first + fences_in_a_block - 1;
  return first;
}

void lease_server::restart_empty() {
  world_.note("restart", locks_.size());
  locks_.clear();
  last_fence_ = 0;
}

void lease_server::forget_client(int client) {
  for (auto& [name, claims] : locks_) {
    const std::deque<lock_queue::waiter> waiters = claims.waiters();
    for (const lock_queue::waiter& w : waiters) {
      if (clients_.at(w.owner) == client) claims.leave(w.owner);
    }
  }
}

std::string lease_server::leftovers() const {
  std::string all;
  for (const auto& [name, claims] : locks_) {
    for (const lock_queue::holder& h : claims.holders()) {
      if (h.expires <= clock_.now()) continue;
      all += name + " is still held by client " + std::to_string(clients_.at(h.owner)) + "; ";
    }
    for (const lock_queue::waiter& w : claims.waiters()) {
      if (w.leaves_at <= clock_.now()) continue;
      all += "client " + std::to_string(clients_.at(w.owner)) + " still queues at " + name + "; ";
    }
  }
  return all;
}

}  // namespace holdfast::sim
