#include "redis/cluster/node.hpp"

#include <utility>

namespace holdfast::redis {

using runtime::io;
using runtime::task;

namespace {

settings of_node(settings s, const net::endpoint& at) {
  s.host = at.host;
  s.port = at.port;
  return s;
}

identity of_node(const identity& me) { return {me.inboxes, me.id, std::nullopt}; }

}  // namespace

const std::string* error_in(const reply& r, const command* to) noexcept {
  const value* const v = to != nullptr ? said_to(*to, r) : std::get_if<value>(&r);
  return v != nullptr && v->is(value::kind::error) ? &v->text : nullptr;
}

bool is_unreachable(const reply& r) noexcept {
  const auto* const why = std::get_if<storage::failure>(&r);
  return why != nullptr && !why->permanent();
}

node::node(net::endpoint where, std::uint64_t serial, const settings& s, const identity& me, runtime::loop& loop,
           listener& all)
    : at_(std::move(where)), serial_(serial), all_nodes_(all), to_server_(of_node(s, at_), of_node(me), loop, *this) {}

task<reply> node::run_asking(io& i, routed_command what, limit l) {
  if (what.what == nullptr) co_return storage::failure(errc::not_ready, "a slot of the cluster is moving");
  command asking(1);
  asking.add("ASKING");
  const command both = what.what->with_before_last(asking);
  what.what = &both;
  reply got = co_await run(i, what, std::move(l));
  co_return got;
}

/// Thousands of renewals may be due at a node that is down. One of them finds out whether it is back, and the others
/// fail at once, in favour of those of other nodes.
task<reply> node::run(io& i, routed_command what, limit l) {
  const bool on_loop = what.what == nullptr || !i.in_place();
  const bool down = on_loop && failed_ && !to_server_.events().is_open();
  if (down && probing_.exchange(true))
    co_return storage::failure(errc::unreachable, "the node is not there (" + text_of(at_) + ")");
  reply got = storage::failure(errc::unreachable, "");
  try {
    if (what.what == nullptr) {
      got = co_await to_server_.events().subscribe(i, what.slot, l);
    } else {
      got = co_await to_server_.call(i, *what.what, l, what.abandoned);
    }
  } catch (...) {
    if (down) probing_ = false;
    throw;
  }
  if (what.abandoned != nullptr && *what.abandoned) (*what.abandoned)->node = serial_;
  const bool our_time_is_over = i.now() >= l.at() || l.stop().stop_requested();
  if (!is_unreachable(got)) {
    failed_ = false;
  } else if (on_loop || !our_time_is_over) {
    failed_ = true;
  }
  if (down) probing_ = false;
  // A holder receives revoke requests there.
  const bool about_a_key = what.what != nullptr && !what.what->key().empty();
  if (!i.in_place() && about_a_key && error_in(got, what.what) == nullptr)
    to_server_.events().subscribe_soon(what.slot);
  co_return got;
}

}  // namespace holdfast::redis
