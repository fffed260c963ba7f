#include "sim/run.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "runtime/nursery.hpp"
#include "sim/checker.hpp"
#include "sim/client_io.hpp"
#include "sim/lease_service.hpp"
#include "sim/network.hpp"
#include "sim/redis_service.hpp"
#include "sim/resource.hpp"
#include "sim/service.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

namespace {

using namespace std::chrono_literals;
using core::outcome;
using core::tenancy;
using runtime::later;
using runtime::span;
using runtime::task;
using runtime::wake;
using std::chrono::milliseconds;

constexpr span patience = 300ms;

/// Which faults there are in this run, and how many of everything.
struct plan {
  explicit plan(world& w)
      : clients(2 + w.below(3)),
        users(1 + w.below(3)),
        names(1 + w.below(2)),
        operations(3 + w.below(8)),
        burst(w.below(3) == 0 ? 1 : 2 + static_cast<unsigned>(w.below(15))),
        drift(w.chance(0.7) ? 0.0045 : 0),
        pauses(w.chance(0.5)),
        crashes(w.chance(0.4)),
        blocking(w.chance(0.5)),
        restarts(w.chance(0.15)),
        quiet(w.chance(0.05)),
        faults_end(w.between(500ms, 3s)) {
    if (w.chance(0.5)) bad.lose = 0.01 + 0.01 * static_cast<double>(w.below(20));
    if (w.chance(0.4)) bad.duplicate = 0.1;
    if (w.chance(0.4)) bad.late = 0.1;
    if (w.chance(0.3)) bad.refuse = 0.3;
    if (quiet) {
      pauses = crashes = restarts = false;
      bad = weather();
    }
  }
  std::uint64_t clients, users, names, operations;
  unsigned burst;
  double drift;
  bool pauses, crashes, blocking, restarts;
  bool quiet;  ///< nothing goes wrong at all
  weather bad;
  real faults_end;
};

/// One process: the loop at home, and its users, who may be there too or on threads of their own.
struct client {
  client(world& w, service& s, int id_, double rate, bool blocking, unsigned burst)
      : id(id_),
        clock(w, rate, std::chrono::seconds(1 + w.below(1000))),
        home(w, clock),
        threads(w, clock),
        io(blocking ? threads : home),
        user([this](std::function<void()> f) { home.post(std::move(f)); }, [](const char*) {}),
        way(s.connect(home)),
        engine(way->store(), home, user, core::reporter(nullptr), {.patience = patience, .burst = burst}),
        users(io) {}
  void pause(real until) {
    home.pause(until);
    threads.pause(until);
  }
  const int id;
  const drifting_clock clock;
  client_io home, threads;
  client_io& io;  ///< of its users
  runtime::executor user;
  const std::unique_ptr<access> way;
  core::engine engine;
  runtime::nursery users;
  bool crashed = false;
};

class scenario {
 public:
  scenario(std::uint64_t seed, store_kind kind, bool trace)
      : world_(seed),
        plan_(world_),
        network_(world_),
        service_(make(kind)),
        resource_(world_),
        checker_(world_, service_->exclusive()) {
    world_.trace = trace;
    world_.after_each = [this] { checker_.look(); };
  }

  result play() {
    network_.now = plan_.bad;
    for (std::uint64_t n = 0; n < plan_.clients; ++n) {
      client& c = start_client();
      for (std::uint64_t u = 0; u < plan_.users; ++u) c.users.spawn(live(c, plan_.operations));
    }
    world_.in(world_.between(5ms, 50ms), [this] { make_trouble(); });
    go_until([this] { return users_are_done() && world_.now() > plan_.faults_end; }, 120s, "I7: callers hang");
    heal();
    if (!broken()) {
      client& last = start_client();
      last.users.spawn(take_every_name(last));
      go_until([this] { return users_are_done(); }, 60s, "I7: a lock cannot be had though nobody has it");
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
    if (kind == store_kind::redis) return std::make_unique<redis_service>(world_, network_, rate(), plan_.quiet);
    return std::make_unique<lease_service>(world_, network_, rate(), plan_.restarts);
  }

  double rate() {
    constexpr double far[] = {-1, 1, 0.3, 0};
    return 1 + plan_.drift * far[world_.below(4)];
  }

  client& start_client() {
    const auto id = static_cast<int>(clients_.size());
    clients_.push_back(std::make_unique<client>(world_, *service_, id, rate(), plan_.blocking, plan_.burst));
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

  /// There is no need to go on: a world that a bug has broken may never come to its end.
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
    if (world_.chance(0.01)) victim.engine.close();  // its users go on with what they hold
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
    next.users.spawn(live(next, 1 + world_.below(plan_.operations)));
  }

  // ---- users --------------------------------------------------------------------------------------------------------

  std::string any_name() { return "lock/" + std::to_string(world_.below(plan_.names)); }

  milliseconds any_ttl() {
    const std::vector<milliseconds>& ttls = service_->ttls();
    return ttls[world_.below(ttls.size())];
  }

  task<void> live(client& c, std::uint64_t operations) {
    const milliseconds usual_ttl = any_ttl();
    const std::stop_source quiet;
    for (std::uint64_t n = 0; n < operations && !c.crashed; ++n) {
      co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 60ms))));
      const core::terms on{.ttl = world_.chance(0.8) ? usual_ttl : any_ttl(),
                           .renew = world_.chance(0.85),
                           .max_hold = world_.chance(0.1) ? any_ttl() * 2 : 0ms};
      const bool one_look = world_.chance(0.15);
      const bool limited = world_.chance(0.6);
      const span longest_wait = limited ? world_.between(1ms, 600ms) : span(30s);
      std::stop_source stop;
      if (world_.chance(0.15)) {
        world_.in(world_.between(0ms, 200ms), [stop]() mutable { stop.request_stop(); });
      }
      core::request wanted(any_name(), on, limit(later(c.io.now(), longest_wait), stop.get_token()), one_look);
      const real asked = world_.now();
      const instant last = one_look ? later(c.io.now(), patience) : wanted.until.at();
      outcome got = co_await c.engine.acquire(c.io, std::move(wanted));
      ++result_.operations;
      world_.note("outcome", static_cast<std::uint64_t>(got.what), got.lease ? got.lease->fence() : 0);
      const bool ran = c.io.running_since() + 1ms < asked;
      if (ran && c.io.now() > later(last, 15ms)) world_.violate("I7: a caller came back after its limit");
      const bool in_vain = got.what == outcome::kind::busy && !one_look && !limited && !c.crashed;
      if (in_vain) world_.violate("I7: a caller waited in vain, much longer than others hold");
      if (got.why) world_.tell("  failed: " + got.why->text);
      const bool had_time = one_look || longest_wait > 50ms;  // for an answer
      if (plan_.quiet && had_time && got.what == outcome::kind::failed) {
        world_.violate("I7: a call failed though nothing was wrong");
      }
      if (got.what == outcome::kind::granted && !c.crashed) co_await hold(c, std::move(got.lease));
    }
  }

  task<void> hold(client& c, std::shared_ptr<tenancy> lease) {
    ++result_.granted;
    checker::watched& mine = checker_.watch(lease, c.io);
    const instant end = later(c.io.now(), world_.chance(0.5) ? world_.between(0ms, 10ms) : world_.between(0ms, 500ms));
    while (c.io.now() < end && lease->held(c.io.now())) {
      co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 30ms))));
      if (c.crashed) co_return;
      const std::uint64_t what = world_.below(10);
      if (what < 5 && lease->held(c.io.now())) co_await add_one(c, lease);
      if (what == 5) {
        const milliseconds ttl = any_ttl();
        const limit until(lease->of()->deadline());
        ++result_.operations;
        const seam::answer<instant> renewed = co_await c.engine.renew(c.io, lease, ttl, until);
        world_.note("renewed", renewed.is_yes() ? 1 : 0);
      }
      if (c.crashed) co_return;
    }
    const limit until(std::min(later(c.io.now(), 1s), lease->of()->deadline()));
    ++result_.operations;
    const released end_of_it = co_await c.engine.release(c.io, lease, until);
    world_.note("released", static_cast<std::uint64_t>(end_of_it), lease->fence());
    if (end_of_it == released::lost) ++result_.lost;
    const bool may_run_out = !lease->of()->on.renew || lease->of()->on.max_hold > 0ms;
    if (plan_.quiet && end_of_it != released::yes && !may_run_out) {
      world_.violate("I4: a lease was lost though nothing was wrong");
    }
    if (lease->held(c.io.now())) world_.violate("I4: a lease is held after its release");
    if (!c.crashed) checker_.forget(mine);
  }

  /// Reads, thinks and writes, each a message to the resource. The holder may be stopped anywhere in between.
  task<void> add_one(client& c, std::shared_ptr<tenancy> lease) {
    const std::string& name = lease->of()->name;
    co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 5ms))));
    const std::optional<std::uint64_t> seen = resource_.read(name, lease->fence());
    ++result_.operations;
    if (!seen) co_return;
    co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 20ms))));
    if (c.crashed) co_return;
    ++result_.operations;
    resource_.write(name, lease->fence(), *seen + 1);
  }

  task<void> take_every_name(client& c) {
    for (std::uint64_t n = 0; n < plan_.names; ++n) {
      core::request wanted("lock/" + std::to_string(n), core::terms{.ttl = 150ms}, limit(later(c.io.now(), 40s)),
                           false);
      outcome got = co_await c.engine.acquire(c.io, std::move(wanted));
      if (got.what != outcome::kind::granted) {
        world_.violate("I7: lock/" + std::to_string(n) + " cannot be had though nobody has it");
      } else {
        const limit until(later(c.io.now(), 1s));
        co_await c.engine.release(c.io, std::move(got.lease), until);
      }
    }
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
      if (c->engine.kept() != 0) world_.violate("I8: " + who + " still keeps a hold");
      if (c->engine.rooms() != 0) world_.violate("I8: " + who + " still has a room in its gate");
      if (c->way->waiting() != 0) world_.violate("I8: " + who + " still has a call or a claim");
    }
    const std::string left = service_->leftovers();
    if (!left.empty()) world_.violate("I8, I10: " + left);
  }

  world world_;
  const plan plan_;
  network network_;
  const std::unique_ptr<service> service_;
  resource resource_;
  checker checker_;
  std::deque<std::unique_ptr<client>> clients_;
  result result_;
};

}  // namespace

result run(std::uint64_t seed, store_kind kind, bool trace) { return scenario(seed, kind, trace).play(); }

}  // namespace holdfast::sim
