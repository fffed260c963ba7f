#include "sim/lease_server.hpp"

#include <algorithm>

namespace holdfast::sim {

reply lease_server::carry_out(const demand& d) {
  lock& l = locks_[d.name];
  const instant now = clock_.now();
  const auto same = [&](const place& p) { return p.owner == d.owner; };
  const bool ours = l.owner == d.owner && l.expires > now;
  world_.note("server", static_cast<std::uint64_t>(d.what), d.owner.low);

  if (d.what == demand::kind::renew) {
    if (!ours) return {};
    l.expires = std::max(l.expires, now + d.ttl);  // an old request may arrive late: it must not shorten
    return {.yes = true};
  }
  if (d.what == demand::kind::release) {
    const bool there = std::erase_if(l.line, same) > 0 || ours;
    if (ours) l.expires = instant::min();
    if (l.expires <= now) serve_first(l);
    return {.yes = there};
  }
  for (place& p : l.line) {
    if (same(p)) p.expires = now + place_ttl;
  }
  if (l.expires <= now) serve_first(l);
  if (l.expires <= now || l.owner == d.owner) {
    std::erase_if(l.line, same);
    give(l, {d.owner, d.from, d.ttl, now});
    const auto floor = static_cast<std::uint64_t>(now.time_since_epoch() / std::chrono::microseconds(1));
    const std::uint64_t first = std::max(last_fence_ + 1, floor);
    last_fence_ = first + fences_in_a_block - 1;
    return {.yes = true, .fence = first};
  }
  if (d.queue && std::none_of(l.line.begin(), l.line.end(), same)) {
    l.line.push_back({d.owner, d.from, d.ttl, now + place_ttl});
  }
  return {.left = l.expires - now};
}

void lease_server::give(lock& l, const place& p) {
  if (l.owner != p.owner) l.expires = clock_.now();
  l.owner = p.owner;
  l.client = p.client;
  l.expires = std::max(l.expires, clock_.now() + p.ttl);
}

void lease_server::serve_first(lock& l) {
  std::erase_if(l.line, [&](const place& p) { return p.expires <= clock_.now(); });
  if (l.line.empty()) return;
  const place first = l.line.front();
  l.line.erase(l.line.begin());
  give(l, first);
  push_(first.client, first.owner);
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
    if (l.expires > clock_.now()) all += name + " is still held by client " + std::to_string(l.client) + "; ";
    for (const place& p : l.line) {
      if (p.expires > clock_.now()) all += "client " + std::to_string(p.client) + " still queues at " + name + "; ";
    }
  }
  return all;
}

}  // namespace holdfast::sim
