#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "memory/server.hpp"
#include "storage/self.hpp"
#include "storage/state.hpp"

namespace holdfast::memory {

namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

constexpr runtime::span remembered_for = 24h;

bool has_fence(const storage::lock_queue::holder& h, std::uint64_t wanted) noexcept {
  return wanted >= h.fence && wanted - h.fence < server::fences_of(h.part);
}

bool in_use(const storage::lock_queue& claims, instant now) noexcept {
  const auto lives = [&](const storage::lock_queue::holder& h) { return h.expires > now; };
  return !claims.waiters().empty() || std::ranges::any_of(claims.holders(), lives);
}

}  // namespace

state server::inspect(const std::string& name, instant now) const {
  return table_.with(
      [&](const table& t) { return look(t, name, {state::most_listed, state::most_waiters_listed}, now); });
}

state server::look(const table& t, const std::string& name, const bounds& listed, instant now) {
  state is;
  const auto broken = t.broken.find(name);
  if (broken != t.broken.end() && now - broken->second.at < remembered_for) is.broken = broken->second.note;
  const auto at = t.locks.find(name);
  if (at == t.locks.end()) return is;
  const entry& e = at->second;
  const system_clock::time_point today = system_clock::now();
  const auto date_of = [&](instant then) {
    return today - std::chrono::duration_cast<system_clock::duration>(now - then);
  };
  const std::uint32_t whole = e.claims.whole();
  if (whole != storage::share::lock) is.permits = whole;
  for (const auto& h : e.claims.holders()) {
    if (h.expires <= now) continue;
    if (e.asked && std::ranges::find(e.asked->holders, h.owner) != e.asked->holders.end()) is.asked = e.asked->note;
    if (++is.holding > listed.holders) continue;
    state::holder& who = is.holders.emplace_back();
    storage::describe(who, h.owner, {h.part, whole}, h.label);
    who.pid = ::getpid();
    who.fence = h.fence;
    who.left = std::chrono::duration_cast<milliseconds>(h.expires - now);
    who.since = date_of(h.since);
  }
  const auto& waiters = e.claims.waiters();
  if (!waiters.empty()) is.waiting_since = date_of(waiters.front().since);
  for (const auto& w : waiters) {
    if (++is.waiting > listed.waiters) continue;
    state::party& who = is.waiters.emplace_back();
    storage::describe(who, w.owner, w.wants, w.label);
    who.pid = ::getpid();
  }
  return is;
}

listing server::list(const std::string& prefix, const std::string& after, std::size_t most, instant now) const {
  return table_.with([&](const table& t) {
    std::vector<const std::string*> those;
    for (const auto& [name, e] : t.locks) {
      if (name > after && name.starts_with(prefix) && in_use(e.claims, now)) those.push_back(&name);
    }
    const auto end = those.begin() + static_cast<std::ptrdiff_t>(std::min(most, those.size()));
    std::partial_sort(those.begin(), end, those.end(),
                      [](const auto* one, const auto* other) { return *one < *other; });
    listing page;
    for (auto each = those.begin(); each != end; ++each) {
      page.names.push_back({**each, look(t, **each, {listing::most_holders, 0}, now)});
    }
    if (end != those.end()) page.next = page.names.back().name;
    return page;
  });
}

bool server::revoke(const std::string& name, const std::string& reason, std::uint64_t fence, instant now) {
  std::vector<storage::revoke_request> asked;
  table_.with([&](table& t) {
    const auto at = t.locks.find(name);
    if (at == t.locks.end()) return;
    revocation to_let_go{{reason, storage::who_we_are(), fence, system_clock::now()}, {}};
    for (const auto& h : at->second.claims.holders()) {
      if (h.expires <= now || (fence != 0 && !has_fence(h, fence))) continue;
      asked.push_back({h.owner, fence, reason});
      to_let_go.holders.push_back(h.owner);
    }
    if (!asked.empty()) at->second.asked = std::move(to_let_go);
  });
  tell(asked);
  return !asked.empty();
}

bool server::break_lock(const storage::break_request& what, instant now) {
  std::vector<storage::revoke_request> losers;
  const bool taken = table_.with([&](table& t) {
    const auto before = t.broken.find(what.name);
    if (before != t.broken.end() && before->second.id == what.id) return true;
    const auto at = t.locks.find(what.name);
    if (at == t.locks.end()) return false;
    entry& e = at->second;
    e.claims.drop_expired(now);
    std::uint64_t fence = what.fence;
    std::vector<storage::owner_id> owners;
    for (const auto& h : e.claims.holders()) {
      if (!what.is_about(h.owner, {h.part, e.claims.whole()}, h.fence, fences_of(h.part))) continue;
      owners.push_back(h.owner);
      losers.push_back({h.owner, 0, {}, true});
      if (fence == 0) fence = h.fence;
    }
    if (losers.empty()) return false;
    std::erase_if(t.broken, [&](const auto& each) { return now - each.second.at >= remembered_for; });
    t.broken[what.name] = {{what.reason, storage::who_we_are(), fence, system_clock::now()}, what.id, now};
    e.claims.break_holders(owners, now);
    if (e.claims.idle()) t.locks.erase(at);
    return true;
  });
  tell(losers);
  return taken;
}

void server::tell(const std::vector<storage::revoke_request>& all_that) {
  clients_.with([&](const auto& all) {
    for (storage::backend_events* each : all) {
      for (const storage::revoke_request& what : all_that) each->revoke_requested(what);
    }
  });
}

}  // namespace holdfast::memory
