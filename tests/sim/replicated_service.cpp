#include "sim/replicated_service.hpp"

#include <algorithm>
#include <utility>

#include "redis/lock/client.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"
#include "sim/redis_transport.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

/// The time in which a client that learns of another primary connects, subscribes and polls, if no message is lost.
constexpr real soon = 50ms;

constexpr real longest_outage = 300ms;

redis::settings how(bool waits) {
  redis::settings s;
  s.wait.replicas = waits ? 1 : 0;
  s.wait.limit = 50ms;
  return s;
}

}  // namespace

/// The product's client, with a simulated transport.
class replicated_service::side final : public access {
 public:
  side(replicated_service& s, client_io& loop)
      : service_(s),
        loop_(loop),
        client_(how(s.waits_), redis::sixteen(s.world_.random(), s.world_.random()),
                [this](const redis::identity& me, redis::listener& who) { return wire_up(me.inboxes + me.id, who); }),
        store_(s.world_, client_) {
    store_.granted = [this](const storage::owner_id& owner, std::uint64_t fence) {
      service_.grants_.heard(owner, fence);
    };
    store_.heard = [this](const storage::owner_id& owner, asked what, bool yes) {
      if (what == asked::poll && yes) look_whether_the_replica_has(owner);
    };
  }
  [[nodiscard]] watchful& store() override { return store_; }
  void crash() override {
    store_.over = true;
    transport_->crash(service_.world_.between(0ms, 2s));
  }
  [[nodiscard]] std::size_t waiting() const override { return transport_->waiting() + store_.owners().size(); }
  void disturb() { transport_->disturb(); }

  /// A sentinel says that there is another primary.
  void hear_of_change() {
    if (store_.over) return;
    loop_.post([this] {
      transport_->start_over();
      const real told = service_.world_.now();
      service_.world_.in(soon,
                         [this, told, change = service_.pair_.changes()] { look_for_what_is_lost(told, change); });
    });
  }

 private:
  std::unique_ptr<redis::transport> wire_up(const std::string& channel, redis::listener& who) {
    const redis_transport::ends ends{service_.world_, service_.network_, [this] { return service_.pair_.primary(); },
                                     loop_, service_.world_.chance(0.5)};
    auto made = std::make_unique<redis_transport>(ends, channel, who);
    transport_ = made.get();
    return made;
  }

  /// I16.
  void look_for_what_is_lost(real told, std::uint64_t change) {
    const bool ran = !loop_.paused() && loop_.running_since() <= told;
    if (!service_.calm_ || service_.apart_ > 0ms || !ran || store_.over || service_.pair_.changes() != change) return;
    for (const auto& [id, deadline] : store_.holders()) {
      if (loop_.now() >= deadline || has(service_.pair_.last_primary(), {id.first, id.second})) continue;
      service_.world_.violate("I16: a holder was not notified that a failover lost its lock");
    }
  }

  /// I17.
  void look_whether_the_replica_has(const storage::owner_id& owner) {
    redis_pair& pair = service_.pair_;
    if (!service_.waits_ || store_.over || pair.is_changing()) return;
    if (!has(pair.last_primary(), owner) || has(pair.replica(), owner)) return;  // it may have come late
    service_.world_.violate("I17: a lock counts as granted that the replica does not have");
  }

  replicated_service& service_;
  client_io& loop_;
  redis_transport* transport_ = nullptr;
  redis::client client_;
  watchful store_;
};

replicated_service::faults::faults(world& w, bool quiet)
    : dies(w.chance(0.5) && !quiet),
      hands_over(w.chance(0.4) && !quiet),
      lags(w.chance(0.6) && !quiet),
      flushes(w.chance(0.2) && !quiet),
      cuts(w.chance(0.3) && !quiet) {}

replicated_service::replicated_service(world& w, network& n, double clock_rate, const plan& planned)
    : world_(w),
      network_(n),
      faults_(w, planned.quiet),
      waits_(w.chance(0.4)),
      calm_(planned.bad.lose == 0 && planned.bad.late == 0 && planned.bad.refuse == 0 && !faults_.cuts),
      // Fences rest on that the clock of the next primary is behind by less than the outage takes.
      apart_(faults_.hands_over || w.chance(0.5) ? 0ms : w.between(0ms, 200ms)),
      faults_end_(planned.faults_end),
      pair_(w, drifting_clock(w, clock_rate, first_day), drifting_clock(w, clock_rate, first_day + apart_),
            {.push_first = w.chance(0.5), .in_order = false, .fair = false}) {
  pair_.on_change = [this] {
    readers_.clear();
    const redis_server& primary = pair_.last_primary();
    for (const std::string& key : primary.keys().all(primary.now())) {
      if (key.ends_with(":h")) readers_[key] = primary.keys().members_of(key, primary.now());
    }
    tell_all();
  };
  pair_.tell(grants_);
  pair_.on_script = [this](const redis_server& at, const redis_server::script_run& r) {
    check_fence(at, r);
    if (&at == &pair_.last_primary()) check_readers(r);  // the clients cannot know what an old primary still grants
  };
}

std::unique_ptr<access> replicated_service::connect(client_io& loop) {
  auto made = std::make_unique<side>(*this, loop);
  sides_.push_back(made.get());
  return made;
}

const std::vector<std::chrono::milliseconds>& replicated_service::ttls() const {
  static const std::vector<std::chrono::milliseconds> all = {60ms, 150ms, 400ms, 1500ms};
  return all;
}

std::uint64_t replicated_service::trouble(access& victim) {
  std::uint64_t count = 0;
  const auto happens = [&](bool there_is, double how_often) {
    const bool now = there_is && world_.chance(how_often);
    count += now ? 1 : 0;
    return now;
  };
  const bool may_change = !pair_.is_changing() && world_.now() + longest_outage < faults_end_;
  if (happens(faults_.lags, 0.2)) pair_.lag_until(world_.now() + world_.between(0ms, 300ms));
  if (happens(faults_.flushes, 0.1)) pair_.last_primary().flush_scripts();
  if (happens(faults_.cuts, 0.3)) static_cast<side&>(victim).disturb();
  if (may_change && happens(faults_.dies, 0.1)) {
    pair_.die(world_.between(apart_ + 20ms, longest_outage));
  } else if (may_change && happens(faults_.hands_over, 0.1)) {
    pair_.hand_over(world_.between(0ms, 30ms));
  }
  return count;
}

void replicated_service::tell_all() {
  for (side* const each : sides_) {
    // A message may get lost; but clients ask, too.
    world_.in(world_.between(0ms, world_.chance(0.2) ? 1s : 50ms), [each] { each->hear_of_change(); });
  }
}

/// I3, of both of them: who gets a lock has a fence above all before, whatever was lost.
void replicated_service::check_fence(const redis_server& at, const redis_server::script_run& r) {
  const bool same = !r.after || (r.before && r.before->value == r.after->value);
  if (same || r.sha == redis::scripts::downgrade.sha) return;
  const std::string& lock = r.keys.at(0);
  const auto last = at.keys().text_at(lock + ":f", at.now());
  if (!last) return;  // of permits it is only a number
  std::uint64_t& highest = highest_[lock];
  const std::uint64_t fence = std::stoull(last->value);
  if (fence <= highest) world_.violate("I3: fence " + last->value + " after " + std::to_string(highest));
  highest = std::max(highest, fence);
  if (&at == &pair_.last_primary()) granted_[lock] = fence;
}

/// I3, of the primary: a reader that gets in, also one that joins others, has a fence that is not below one that was
/// granted before by a primary, whatever was lost.
void replicated_service::check_readers(const redis_server::script_run& r) {
  const redis_server& primary = pair_.last_primary();
  const std::string &lock = r.keys.at(0), list = lock + ":h";
  const std::vector<std::string> there = primary.keys().members_of(list, primary.now());
  const std::vector<std::string> before = std::exchange(readers_[list], there);
  const auto is_new = [&](const std::string& who) { return std::ranges::find(before, who) == before.end(); };
  const bool granted = r.sha == redis::scripts::acquire_shared.sha && r.reply.is(redis::value::kind::integer);
  const auto held = primary.keys().text_at(lock, primary.now());
  if (!held || !held->value.starts_with('+') || (!granted && std::ranges::none_of(there, is_new))) return;
  const std::uint64_t fence = std::stoull(held->value.substr(1));
  if (fence + redis::fences_in_a_block > granted_[lock]) return;
  world_.violate("I3: a reader got the fence " + std::to_string(fence) + " after " + std::to_string(granted_[lock]));
}

real replicated_service::rest() const { return 2 * ttls().back() + 2s; }

/// Returns true if the server has the owner's lock, even an expired one that no other client has acquired since.
bool replicated_service::has(const redis_server& where, const storage::owner_id& owner) {
  const std::string claim = redis::sixteen(owner.high, owner.low);
  const auto is_it = [&](const std::string& text) { return text.size() > 33 && text.substr(17, 16) == claim; };
  constexpr wall_time ever{0};
  for (const std::string& key : where.keys().all(ever)) {
    const auto held = where.keys().text_at(key, ever);
    if (held && is_it(held->value)) return true;
    if (!key.ends_with(":h")) continue;
    const std::vector<std::string> those = where.keys().members_of(key, ever);
    if (std::any_of(those.begin(), those.end(), is_it)) return true;
  }
  return false;
}

std::string replicated_service::left_after_a_day() const {
  std::string left;
  for (const redis_server* const each : pair_.both()) {
    for (const std::string& key : each->keys().all(each->now())) left += key + " ";
  }
  return left;
}

}  // namespace holdfast::sim
