#include "sim/run.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "sim/checker.hpp"
#include "sim/client.hpp"
#include "sim/lease_service.hpp"
#include "sim/network.hpp"
#include "sim/numbers.hpp"
#include "sim/plan.hpp"
#include "sim/redis_service.hpp"
#include "sim/redlock_service.hpp"
#include "sim/replicated_service.hpp"
#include "sim/service.hpp"
#include "sim/users.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

namespace {

using namespace std::chrono_literals;

class scenario {
 public:
  scenario(std::uint64_t seed, store_kind kind, bool trace)
      : world_(seed),
        plan_(plan::of(kind, world_)),
        network_(world_),
        service_(make(kind)),
        checker_(world_, service_->exclusive(), plan_.more_permits),
        users_({world_, plan_, *service_, checker_, result_}) {
    world_.trace = trace;
    world_.after_each = [this] { checker_.look(); };
  }

  result play() {
    network_.now = plan_.bad;
    for (std::uint64_t n = 0; n < plan_.clients; ++n) {
      client& c = start_client();
      for (std::uint64_t u = 0; u < plan_.users; ++u) c.users.spawn(users_.live(c, plan_.operations));
    }
    world_.in(world_.between(5ms, 50ms), [this] { make_trouble(); });
    go_until([this] { return users_are_done() && world_.now() > plan_.faults_end; }, 120s, "I7: callers hang");
    heal();
    if (!broken()) {
      client& last = start_client();
      last.users.spawn(users_.take_everything(last));
      go_until([this] { return users_are_done(); }, 60s, "I7: a free lock cannot be acquired");
    }
    if (!broken()) come_to_rest();
    result_.violation = world_.violation();
    result_.hash = world_.hash();
    result_.events = world_.events();
    result_.faults += network_.faults;
    return result_;
  }

 private:
  std::unique_ptr<service> make(store_kind kind) {
    if (kind == store_kind::redis) return std::make_unique<redis_service>(world_, network_, rate(), plan_);
    if (kind == store_kind::replicas) return std::make_unique<replicated_service>(world_, network_, rate(), plan_);
    if (kind == store_kind::redlock) {
      return std::make_unique<redlock_service>(world_, plan_, [this] { return rate(); });
    }
    return std::make_unique<lease_service>(world_, network_, rate(), plan_.restarts);
  }

  double rate() {
    constexpr double far[] = {-1, 1, 0.3, 0};
    return 1 + plan_.drift * far[world_.below(4)];
  }

  client& start_client() {
    const auto id = static_cast<int>(clients_.size());
    clients_.push_back(std::make_unique<client>(world_, *service_, id, rate(), plan_));
    clients_.back()->way->store().quiet = plan_.quiet;
    clients_.back()->engine.start();
    return *clients_.back();
  }

  void go_until(const std::function<bool()>& done, real at_most, const char* else_what) {
    const real end = world_.now() + at_most;
    while (!done() && !broken()) {
      if (world_.now() > end || !world_.step()) {
        world_.violate(else_what);
        return;
      }
    }
  }

  /// Returns true after a violation: a world that a bug has broken may never come to rest.
  bool broken() const { return !world_.violation().empty(); }

  void rest(real time) {
    bool over = false;
    world_.in(time, [&over] { over = true; });
    while (!over && world_.step()) {
    }
  }

  bool users_are_done() const {
    return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->users.running() == 0; });
  }

  // ---- faults -------------------------------------------------------------------------------------------------------

  void make_trouble() {
    if (world_.now() > plan_.faults_end) {
      heal();
      return;
    }
    if (!plan_.quiet) trouble(*clients_.at(world_.below(clients_.size())));
    world_.in(world_.between(5ms, 120ms), [this] { make_trouble(); });
  }

  void trouble(client& victim) {
    if (plan_.pauses && world_.chance(0.3) && !victim.crashed) {
      ++result_.faults;
      victim.pause(world_.now() + world_.between(5ms, 700ms));
    }
    if (plan_.crashes && world_.chance(0.06) && !victim.crashed) crash(victim);
    result_.faults += service_->trouble(*victim.way);
    if (world_.chance(0.01)) victim.engine.close();  // its users keep what they hold
    if (world_.chance(plan_.bad.refuse)) network_.refuse_until(world_.now() + world_.between(1ms, 250ms));
  }

  void heal() {
    network_.now = weather();
    network_.refuse_until(world_.now());
    service_->heal();
  }

  void crash(client& c) {
    ++result_.faults;
    world_.note("crash", static_cast<std::uint64_t>(c.id));
    c.crashed = true;
    c.way->crash();
    checker_.forget_all(c.io);
    client& next = start_client();
    next.users.spawn(users_.live(next, 1 + world_.below(plan_.operations)));
  }

  // ---- the end ------------------------------------------------------------------------------------------------------

  void come_to_rest() {
    rest(service_->rest());
    look_for_leftovers();
    rest(25h);
    const std::string still_there = service_->left_after_a_day();
    if (!still_there.empty()) world_.violate("I8: a day later there is still " + still_there);
    for (const auto& c : clients_) {
      c->way->store().over = true;
      c->engine.close();
      c->engine.end();
    }
    while (world_.step()) {
    }
    for (const auto& c : clients_) {
      if (c->engine.tasks().running() != 0)
        world_.violate("I8: a task of client " + std::to_string(c->id) + " never ends");
    }
  }

  void look_for_leftovers() {
    for (const auto& c : clients_) {
      const std::string who = "client " + std::to_string(c->id);
      if (c->engine.holdings() != 0) world_.violate("I8: " + who + " still has a holding");
      if (c->engine.queues() != 0) world_.violate("I8: " + who + " still has a local queue");
      if (c->way->waiting() != 0) world_.violate("I8: " + who + " still has a call or a claim");
    }
    const std::string left = service_->leftovers();
    if (!left.empty()) world_.violate("I8, I10: " + left);
  }

  world world_;
  const plan plan_;
  network network_;
  const std::unique_ptr<service> service_;
  result result_;
  checker checker_;
  users users_;
  std::deque<std::unique_ptr<client>> clients_;
};

}  // namespace

result run(std::uint64_t seed, store_kind kind, bool trace) {
  return kind == store_kind::numbers ? run_numbers(seed, trace) : scenario(seed, kind, trace).play();
}

}  // namespace holdfast::sim
