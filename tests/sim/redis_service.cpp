#include "sim/redis_service.hpp"

#include <algorithm>
#include <utility>

#include "redis/lock/client.hpp"
#include "redis/lock/inbox.hpp"
#include "redis/protocol/owner.hpp"
#include "sim/redis_transport.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

/// The product's client, with a simulated transport.
class redis_service::side final : public access {
 public:
  side(redis_service& s, client_io& loop)
      : service_(s),
        loop_(loop),
        client_(redis::settings(), redis::sixteen(s.world_.random(), s.world_.random()),
                [this](const redis::identity& me, redis::listener& who) { return wire_up(me.inboxes + me.id, who); }),
        store_(s.world_, client_) {
    store_.heard = [this](const storage::owner_id& owner, asked what, bool yes) {
      if (!store_.over) service_.server_.audit().heard(owner, what, yes);
    };
    store_.granted = [this](const storage::owner_id& owner, std::uint64_t fence) {
      service_.grants_.heard(owner, fence);
    };
    store_.told_to_let_go = [this](const storage::owner_id& owner) {
      if (!store_.over) service_.server_.audit().told_to_let_go(owner);
    };
    transport_->on_message = [this](const std::string& message) { watch_what_becomes_of(message); };
  }
  [[nodiscard]] watchful& store() override { return store_; }
  void crash() override {
    store_.over = true;
    world& w = service_.world_;
    transport_->crash(service_.faults_.freezes ? w.between(50ms, 2s) : w.between(0ms, 1ms));
  }
  [[nodiscard]] std::size_t waiting() const override { return transport_->waiting() + store_.owners().size(); }
  void disturb() { transport_->disturb(); }

 private:
  std::unique_ptr<redis::transport> wire_up(const std::string& channel, redis::listener& who) {
    const redis_transport::ends ends{service_.world_, service_.network_, [this] { return &service_.server_; }, loop_,
                                     service_.faults_.any_way};
    auto made = std::make_unique<redis_transport>(ends, channel, who);
    transport_ = made.get();
    return made;
  }

  /// I10: a lock that was granted to a client whose waiter has left is released.
  void watch_what_becomes_of(const std::string& text) {
    using kind = redis::message::kind;
    const std::optional<redis::message> m = redis::message::parse(text);
    if (m && (m->what == kind::revoke_request || m->what == kind::loss)) return;
    if (!m || m->what != kind::grant) return service_.world_.violate("I12: a message that makes no sense");
    // A claim on several names that starts over has new ids, which are not known here.
    const bool gone = !service_.several_ && !waits(std::string(m->owner));
    service_.world_.tell("  message for " + std::string(m->owner).substr(17) + (gone ? ", who is gone" : ""));
    const redis_connection* const by = transport_->prompt_event_connection();
    if (!gone || by == nullptr) return;
    const long before = service_.server_.audit().releases_of(std::string(m->owner));
    service_.world_.in(50ms, [this, by, before, owner = std::string(m->owner)] {
      if (store_.over || by != transport_->prompt_event_connection()) return;
      if (service_.server_.audit().releases_of(owner) > before) return;
      service_.world_.violate("I10: a lock was granted to a waiter that has left, and is not released");
    });
  }

  [[nodiscard]] bool waits(const std::string& owner) const {
    const auto& all = store_.owners();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& id) { return owner.substr(17, 16) == redis::sixteen(id.first, id.second); });
  }

  redis_service& service_;
  client_io& loop_;
  redis_transport* transport_ = nullptr;
  redis::client client_;
  watchful store_;
};

redis_service::faults::faults(world& w, bool quiet)
    : restarts_empty(w.chance(0.15) && !quiet),
      restarts_with_data(w.chance(0.25) && !quiet),
      flushes(w.chance(0.25) && !quiet),
      cuts(w.chance(0.4) && !quiet),
      sets_clock_back(w.chance(0.15) && !quiet && !restarts_empty),
      gets_full(w.chance(0.15) && !quiet),
      others(w.chance(0.15) && !quiet),
      any_way(w.chance(0.5)),
      freezes(w.chance(0.5)) {}

redis_service::redis_service(world& w, network& n, double clock_rate, const plan& planned)
    : world_(w),
      network_(n),
      several_(planned.several),
      breaks_(planned.breaks),
      faults_(w, planned.quiet),
      server_(w, drifting_clock(w, clock_rate, first_day),
              {.push_first = w.chance(0.5), .in_order = !faults_.sets_clock_back, .fair = !planned.unfair}) {
  server_.audit().tell(grants_, [] { return true; });
}

std::unique_ptr<access> redis_service::connect(client_io& loop) { return std::make_unique<side>(*this, loop); }

const std::vector<std::chrono::milliseconds>& redis_service::ttls() const {
  // The last is longer than the grant that a waiter gets by a message.
  static const std::vector<std::chrono::milliseconds> all = {60ms, 150ms, 400ms, 1500ms};
  return all;
}

std::uint64_t redis_service::trouble(access& victim) {
  std::uint64_t count = 0;
  const auto happens = [&](bool there_is, double how_often) {
    const bool now = there_is && world_.chance(how_often);
    count += now ? 1 : 0;
    return now;
  };
  if (happens(faults_.restarts_empty, 0.05)) server_.restart(false);
  if (happens(faults_.restarts_with_data, 0.05)) {
    server_.restart(true);
    network_.refuse_until(world_.now() + world_.between(0ms, 50ms));
    server_.load_data_until(world_.now() + world_.between(0ms, 100ms));
  }
  if (happens(faults_.gets_full, 0.1)) server_.be_full_until(world_.now() + world_.between(0ms, 200ms));
  if (happens(faults_.others, 0.2)) server_.take_for_another("holdfast:{lock/0}", 1ms * (1 + world_.below(300)));
  if (happens(faults_.flushes, 0.1)) server_.flush_scripts();
  if (happens(faults_.cuts, 0.3)) static_cast<side&>(victim).disturb();
  if (happens(faults_.sets_clock_back, 0.05)) server_.set_clock(-world_.between(0ms, 200ms));
  return count;
}

void redis_service::heal() {
  server_.load_data_until(world_.now());
  server_.be_full_until(world_.now());
}

real redis_service::rest() const { return 2 * ttls().back() + 2s; }

std::string redis_service::left_after_a_day() const {
  std::string left;
  for (const std::string& key : server_.keys().all(server_.now())) left += key + " ";
  return left;
}

}  // namespace holdfast::sim
