#include "redis/lock/client.hpp"

#include <algorithm>
#include <utility>

#include "redis/cluster/cluster.hpp"
#include "redis/doctor/health_check.hpp"
#include "redis/lock/cell.hpp"
#include "redis/lock/claim.hpp"
#include "redis/lock/multi_claim.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/slots.hpp"
#include "redis/transport/server_transport.hpp"
#include "runtime/random.hpp"

namespace holdfast::redis {

using runtime::io;
using runtime::task;
using storage::answer;
using storage::done;

std::unique_ptr<client> client::open(const std::string& url, runtime::loop& loop) {
  return open(settings::parse(url), loop);
}

std::unique_ptr<client> client::open(settings s, runtime::loop& loop) {
  load_tls(s);
  const auto over_sockets = [&](const identity& me, listener& who) -> std::unique_ptr<transport> {
    if (s.of_a_cluster()) return std::make_unique<cluster>(s, me, loop, who);
    return std::make_unique<server_transport>(s, me, loop, who);
  };
  return std::make_unique<client>(s, sixteen(runtime::random_bits(), runtime::random_bits()), over_sockets);
}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<claim>(session_, std::move(spec));
}

std::unique_ptr<storage::claim> client::open_all(std::vector<storage::claim_spec> specs) {
  // A script can only access one slot.
  const auto slot = [&](const storage::claim_spec& each) {
    return slot_of(lock_key(session_.config.prefix, each.name));
  };
  const bool apart = session_.config.of_a_cluster() && std::ranges::any_of(specs, [&](const storage::claim_spec& each) {
                       return slot(each) != slot(specs.front());
                     });
  if (apart || !specs.front().wants.exclusive()) return backend::open_all(std::move(specs));
  return std::make_unique<multi_claim>(*this, session_, std::move(specs));
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  const keys k(session_.config.prefix, name);
  command c = call_of(scripts::resize, 4, 2);
  add_keys(c, k).add(session_.inboxes_of(k.lock)).add(static_cast<std::int64_t>(whole));
  for (;;) {
    reply r = co_await session_.run(i, scripts::resize, c, l);
    if (auto why = no_number<done>(r, "resize", session_.config.prefix)) co_return std::move(*why);
    if (std::get<value>(r).number == 0) co_return answer<done>::yes(done());
  }
}

std::unique_ptr<storage::cell> client::open_cell(std::string name) { return std::make_unique<cell>(session_, name); }

task<answer<std::vector<finding>>> client::examine(io& i, limit l) {
  return redis::examine(i, *session_.server, session_.config, std::move(l));
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::redis
