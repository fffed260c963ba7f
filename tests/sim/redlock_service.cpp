#include "sim/redlock_service.hpp"

#include <algorithm>
#include <utility>

#include "quorum/client.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/redlock/voter.hpp"
#include "sim/redis_transport.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

/// The longest ttl plus its delay.
constexpr std::chrono::milliseconds max_ttl = 600ms;

}  // namespace

/// The product's quorum over the product's voters, with simulated transports.
class redlock_service::side final : public access {
 public:
  side(redlock_service& s, client_io& loop)
      : service_(s),
        loop_(loop),
        skew_(s.any_skew()),
        quorum_(voters(), {.max_ttl = max_ttl, .clock = [this] { return wall_clock(); }}, loop),
        store_(s.world_, quorum_) {
    store_.broke = [this](const storage::owner_id& id) { service_.audit_.broke(id); };
    store_.renews = [this](const storage::owner_id& owner) { service_.audit_.asked_for(owner); };
    store_.heard = [this](const storage::owner_id& owner, asked what, bool yes) {
      if (what == asked::renew && yes && !store_.over) service_.audit_.heard_of(owner);
    };
  }
  [[nodiscard]] watchful& store() override { return store_; }
  void crash() override {
    store_.over = true;
    for (redis_transport* const each : links_) each->crash(service_.world_.between(0ms, 2s));
  }
  [[nodiscard]] std::size_t waiting() const override {
    std::size_t calls = store_.owners().size();
    for (const redis_transport* const each : links_) calls += each->waiting();
    return calls;
  }
  void disturb() { links_[service_.world_.below(links_.size())]->disturb(); }
  /// Cuts off one of the servers.
  void cut_off(real until) {
    const std::size_t one = service_.world_.below(links_.size());
    ways_[one]->refuse_until(until);
    links_[one]->disturb();
  }
  void set_clock() { skew_ = service_.any_skew(); }

 private:
  std::vector<std::unique_ptr<storage::voter>> voters() {
    std::vector<std::unique_ptr<storage::voter>> all;
    for (node& each : service_.nodes_) {
      world& w = service_.world_;
      network& way = each.ways.emplace_back(w);
      if (!service_.healed_) way.now = service_.bad_;
      ways_.push_back(&way);
      redis::settings s;
      s.host = "server-" + std::to_string(all.size());
      auto client = std::make_unique<redis::client>(
          s, redis::sixteen(w.random(), w.random()),
          [&](const redis::identity& me, redis::listener& who) { return wire_up(each, way, me.inboxes + me.id, who); });
      all.push_back(std::make_unique<redis::voter>(std::move(client), redis::voter::rules{max_ttl, false}));
    }
    return all;
  }

  std::unique_ptr<redis::transport> wire_up(node& to, network& way, const std::string& channel, redis::listener& who) {
    const redis_transport::ends ends{service_.world_, way, [&to] { return to.server.get(); }, loop_, false};
    auto made = std::make_unique<redis_transport>(ends, channel, who);
    links_.push_back(made.get());
    return made;
  }

  /// Returns microseconds since 1970 from the wall clock, which is only roughly right.
  [[nodiscard]] std::uint64_t wall_clock() const {
    return static_cast<std::uint64_t>((first_day + service_.world_.now() + skew_) / 1us);
  }

  redlock_service& service_;
  client_io& loop_;
  real skew_;
  std::vector<redis_transport*> links_;
  std::vector<network*> ways_;
  quorum::client quorum_;
  watchful store_;
};

redlock_service::faults::faults(world& w, bool quiet)
    : restarts_empty(w.chance(0.3) && !quiet),
      restarts_with_data(w.chance(0.25) && !quiet),
      dies(w.chance(0.3) && !quiet),
      stands_still(w.chance(0.3) && !quiet),
      cuts(w.chance(0.4) && !quiet),
      flushes(w.chance(0.25) && !quiet),
      gets_full(w.chance(0.15) && !quiet),
      others(w.chance(0.15) && !quiet),
      sets_clock_back(w.chance(0.15) && !quiet),
      // A server whose clock is set forward would report a higher uptime than it has.
      sets_clock_forward(w.chance(0.1) && !quiet && !restarts_empty) {}

redlock_service::redlock_service(world& w, const plan& planned, const std::function<double()>& any_rate)
    : world_(w),
      bad_(planned.bad),
      faults_end_(planned.faults_end),
      breaks_(planned.breaks),
      faults_(w, planned.quiet),
      audit_(w, 3 + w.below(3)) {
  for (std::size_t n = 0; n < audit_.servers(); ++n) {
    const bool writes_at_once = w.chance(0.2);
    const drifting_clock clock(w, any_rate(), first_day + w.between(0s, 1s));
    const redis_server::choices how{
        .push_first = w.chance(0.5), .in_order = false, .fair = false, .writes_at_once = writes_at_once, .age = 1h};
    nodes_.push_back({std::make_unique<redis_server>(w, clock, how), writes_at_once});
    nodes_.back().server->on_script = [this, n](const redis_server::script_run& r) { audit_.ran(n, r); };
  }
}

/// The error of the clients' wall clocks. If servers forget their last fences, fences rest on these clocks.
real redlock_service::any_skew() {
  return faults_.restarts_empty ? world_.between(0ms, max_ttl / 10 * 9) : world_.between(-1h, 1h);
}

std::unique_ptr<access> redlock_service::connect(client_io& loop) { return std::make_unique<side>(*this, loop); }

const std::vector<std::chrono::milliseconds>& redlock_service::ttls() const {
  static const std::vector<std::chrono::milliseconds> all = {60ms, 150ms, 400ms};
  return all;
}

std::uint64_t redlock_service::trouble(access& victim) {
  auto& client = static_cast<side&>(victim);
  std::uint64_t count = trouble_at(nodes_[world_.below(nodes_.size())]);
  if (faults_.cuts && world_.chance(0.3)) {
    ++count;
    if (world_.chance(0.5)) client.disturb();
    if (world_.chance(0.5)) client.cut_off(world_.now() + world_.between(0ms, 300ms));
  }
  if (world_.chance(0.05)) client.set_clock();
  return count;
}

std::uint64_t redlock_service::trouble_at(node& victim) {
  redis_server& server = *victim.server;
  std::uint64_t count = 0;
  const auto happens = [&](bool there_is, double how_often) {
    const bool now = there_is && world_.chance(how_often);
    count += now ? 1 : 0;
    return now;
  };
  const auto soon = [&](real at_most) { return world_.now() + world_.between(0ms, at_most); };
  if (happens(faults_.restarts_empty && !victim.writes_at_once, 0.08)) server.restart(false);
  if (happens(faults_.restarts_with_data, 0.08)) {
    server.restart(true);
    server.load_data_until(soon(100ms));
  }
  if (happens(faults_.dies, 0.1)) {
    server.restart(true);
    const real back = soon(500ms);
    for (network& each : victim.ways) each.refuse_until(back);
  }
  if (happens(faults_.stands_still, 0.1)) server.stand_still_until(std::min(soon(500ms), faults_end_));
  if (happens(faults_.flushes, 0.1)) server.flush_scripts();
  if (happens(faults_.gets_full, 0.1)) server.be_full_until(soon(200ms));
  if (happens(faults_.others, 0.2)) server.take_for_another("holdfast:{lock/0}", 1ms * (1 + world_.below(300)));
  if (happens(faults_.sets_clock_back, 0.05)) server.set_clock(-world_.between(0ms, 200ms));
  if (happens(faults_.sets_clock_forward, 0.1)) server.set_clock(world_.between(0ms, 600ms));
  return count;
}

void redlock_service::heal() {
  healed_ = true;
  for (node& each : nodes_) {
    each.server->load_data_until(world_.now());
    each.server->be_full_until(world_.now());
    for (network& way : each.ways) {
      way.now = weather();
      way.refuse_until(world_.now());
    }
  }
}

real redlock_service::rest() const { return 2 * max_ttl + 2s; }

std::string redlock_service::leftovers() {
  std::string all;
  for (const node& each : nodes_) all += each.server->leftovers();
  return all;
}

std::string redlock_service::left_after_a_day() const {
  std::string left;
  for (const node& each : nodes_) {
    for (const std::string& key : each.server->keys().all(each.server->now())) left += key + " ";
  }
  return left;
}

}  // namespace holdfast::sim
