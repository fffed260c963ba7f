#include "redis/lock/replica_wait.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "redis/protocol/error_reply.hpp"

namespace holdfast::redis {

using runtime::io;
using runtime::task;

namespace {

constexpr const char* has_no_waitaof = "wait_aof needs WAITAOF, which Redis has since 7.2, and Valkey";

}  // namespace

task<std::optional<storage::failure>> replica_wait::prepare(io& i, transport& l, limit until) {
  const std::uint64_t now = doubts_;
  if (prepared_for_ == now) co_return std::nullopt;
  std::optional<storage::failure> why;
  if (wait_.on_disks != acknowledgement::disks::none) {
    command probe(3);
    probe.add("COMMAND").add("INFO").add("WAITAOF");
    const reply r = co_await l.call(i, probe, until);
    const value* const v = std::get_if<value>(&r);
    if (v == nullptr) {
      why = std::get<storage::failure>(r);
    } else if (v->is(value::kind::error)) {
      why = meaning_of(v->text, settings_.prefix);
    } else if (v->items.empty() || v->items[0].items.empty()) {
      why = storage::failure(errc::unsupported, has_no_waitaof);
    }
  }
  if (!why && wait_.by != acknowledgement::count::number) {
    command role(1);
    role.add("ROLE");
    const reply r = co_await l.call(i, role, until);
    const value* const v = std::get_if<value>(&r);
    if (v == nullptr) {
      why = std::get<storage::failure>(r);
    } else if (v->is(value::kind::error)) {
      why = meaning_of(v->text, settings_.prefix);
    } else if (v->items.size() == 3 && v->items[0].text == "master") {
      const auto here = static_cast<std::int64_t>(v->items[2].items.size());
      std::int64_t before = replicas_;
      while (before < here && !replicas_.compare_exchange_weak(before, here)) {
      }
    }
  }
  if (!why) prepared_for_ = now;
  co_return why;
}

std::int64_t replica_wait::needed() const noexcept {
  const std::int64_t there = replicas_;
  switch (wait_.by) {
    case acknowledgement::count::number: return wait_.replicas;
    case acknowledgement::count::majority:  // the primary counts as one copy
      return (there + 1) / 2;
    case acknowledgement::count::all: return there;
  }
  return wait_.replicas;
}

command replica_wait::behind(const command& grant, std::int64_t needed) const {
  const std::int64_t ms = wait_.limit.count();
  const bool their_disks = wait_.on_disks == acknowledgement::disks::replicas;
  command all = grant;
  if (wait_.on_disks != acknowledgement::disks::none) {
    command c(4);
    c.add("WAITAOF").add(std::int64_t{1}).add(their_disks ? needed : 0).add(ms);
    all.along_with(c);
  }
  if (needed > 0 && !their_disks) {
    command c(3);
    c.add("WAIT").add(needed).add(ms);
    all.along_with(c);
  }
  return all;
}

// The first reply is that of the grant. WAIT replies with a number, WAITAOF with {local, replicas}.
std::optional<storage::failure> replica_wait::missing(const value& replies, std::int64_t needed) const {
  for (std::size_t n = 1; n < replies.items.size(); ++n) {
    const value& v = replies.items[n];
    if (v.is(value::kind::error)) return meaning_of(v.text, settings_.prefix);
    if (v.is(value::kind::integer) && v.number < needed) return too_few(v.number, needed, " had the lock");
    if (!v.is(value::kind::list) || v.items.size() != 2) continue;
    if (v.items[0].number < 1) {
      return storage::failure(errc::not_ready, "the lock was not on the server's disk within " +
                                                   std::to_string(wait_.limit.count()) +
                                                   " ms (wait_aof); it is given back");
    }
    const bool their_disks = wait_.on_disks == acknowledgement::disks::replicas;
    if (their_disks && v.items[1].number < needed) {
      return too_few(v.items[1].number, needed, " had the lock on disk");
    }
  }
  return std::nullopt;
}

storage::failure replica_wait::too_few(std::int64_t have, std::int64_t needed, const char* what) const {
  return {errc::not_ready, std::to_string(have) + " of the " + std::to_string(needed) +
                               (needed == 1 ? " replica" : " replicas") + " that it needs" + what + " within " +
                               std::to_string(wait_.limit.count()) + " ms (wait_replicas); it is given back"};
}

}  // namespace holdfast::redis
