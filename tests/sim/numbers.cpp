#include "sim/numbers.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "core/announcement.hpp"
#include "core/countdown.hpp"
#include "core/leader_watch.hpp"
#include "sim/client.hpp"
#include "sim/lease_service.hpp"
#include "sim/number_server.hpp"
#include "sim/plan.hpp"

namespace holdfast::sim {

namespace {

using namespace std::chrono_literals;
using core::reliable_cell;
using runtime::later;
using runtime::task;
using storage::answer;
using storage::done;

constexpr const char* latch_cell = "latch/0";
constexpr const char* election_cell = "election/0";

class numbers {
 public:
  numbers(std::uint64_t seed, bool trace)
      : world_(seed),
        plan_(world_),
        network_(world_),
        service_(world_, network_, rate(), false),
        server_(world_, network_, drifting_clock(world_, rate(), 5000s)),
        latch_{.expected = 5 + world_.below(20), .ttl = 24h} {
    world_.trace = trace;
  }

  result play() {
    network_.now = plan_.bad;
    for (std::uint64_t n = 0; n < plan_.clients; ++n) {
      client& c = start_client();
      c.users.spawn(pass(c));
      c.users.spawn(follow(c));
      for (std::uint64_t u = 0; u < plan_.users; ++u) c.users.spawn(live(c));
    }
    world_.in(world_.between(5ms, 50ms), [this] { make_trouble(); });
    go_until([this] { return living_ == 0 && world_.now() > plan_.faults_end; }, 120s, "I7: callers hang");
    heal();
    rest(1s);  // late messages arrive
    check_count();
    healed_ = true;
    if (!broken()) {
      client& last = start_client();
      last.users.spawn(count_the_rest(last));
      go_until([this] { return users_are_done(); }, 60s, "I7: a latch at zero blocks its waiters");
    }
    if (!broken()) end();
    result_.violation = world_.violation();
    result_.hash = world_.hash();
    result_.events = world_.events();
    result_.faults += network_.faults;
    return result_;
  }

 private:
  double rate() {
    constexpr double far[] = {-1, 1, 0.3, 0};
    return 1 + plan_.drift * far[world_.below(4)];
  }
  client& start_client() {
    clients_.push_back(std::make_unique<client>(world_, service_, static_cast<int>(clients_.size()), rate(), plan_));
    clients_.back()->engine.start();
    return *clients_.back();
  }
  reliable_cell open(client& c, const char* name) {
    return reliable_cell(server_.open(c.loop, name), patience, c.silence, std::stop_token());
  }

  // ---- users --------------------------------------------------------------------------------------------------------

  task<void> live(client& c) {
    ++living_;
    for (std::uint64_t n = 0; n < plan_.operations; ++n) {
      co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 60ms))));
      const bool counts = asked_for_ < latch_.expected && world_.chance(0.6);
      if (counts) {
        co_await count(c);
      } else {
        co_await lead(c);
      }
    }
    --living_;
  }

  task<void> count(client& c) {
    ++asked_for_;
    ++result_.operations;
    reliable_cell cell = open(c, latch_cell);
    answer<done> end = co_await core::count_down(c.io, cell, latch_, 1);
    if (end.is_yes()) {
      ++counted_;
    } else if (end.why().text.starts_with("it is not known")) {
      ++perhaps_;
    } else {
      --asked_for_;  // it was not counted, so another one may be
    }
  }

  task<void> lead(client& c) {
    ++result_.operations;
    const std::vector<std::chrono::milliseconds>& ttls = service_.ttls();
    const core::terms on{.ttl = ttls[world_.below(ttls.size())]};
    core::request wish("lock/0", on, limit(later(c.io.now(), world_.between(10ms, 400ms))), false);
    core::outcome won = co_await c.engine.acquire(c.io, std::move(wish));
    if (won.what != core::outcome::kind::granted) co_return;
    ++result_.granted;
    const auto said = std::make_shared<core::announcement>();
    c.engine.spawn(core::announce(c.loop, open(c, election_cell), won.lease, "label", said));
    co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 250ms))));
    if (!won.lease->held(c.io.now())) ++result_.lost;
    said->withdraw();
    limit soon(later(c.io.now(), 100ms));
    co_await c.engine.release(c.io, won.lease, std::move(soon));
  }

  /// Waits for the latch.
  task<void> pass(client& c) {
    reliable_cell cell = open(c, latch_cell);
    for (;;) {
      answer<done> end = co_await core::wait_for_zero(c.io, cell, latch_, limit(runtime::never));
      if (end.is_unknown()) continue;
      const storage::reading is = server_.look(latch_cell);
      if (!is.there || is.number != 0) world_.violate("I13: a waiter passed a latch that is not at zero");
      co_return;
    }
  }

  task<void> follow(client& c) {
    core::leader_watch watch(open(c, election_cell));
    std::uint64_t last = 0;
    while (!healed_) {
      limit brief(later(c.io.now(), 500ms));
      answer<done> end = co_await watch.next(c.io, std::move(brief));
      (void)end;
      const std::uint64_t now = watch.current() ? watch.current()->fence : last;
      if (now < last) world_.violate("I14: an older leader was seen after a newer one");
      last = now;
    }
  }

  task<void> count_the_rest(client& c) {
    reliable_cell cell = open(c, latch_cell);
    const storage::reading is = server_.look(latch_cell);
    for (std::uint64_t left = is.there ? is.number : latch_.expected; left > 0; --left) {
      answer<done> end = co_await core::count_down(c.io, cell, latch_, 1);
      if (!end.is_yes()) world_.violate("I13: it cannot be counted to zero");
    }
  }

  // ---- what must be true --------------------------------------------------------------------------------------------

  void check_count() {
    const storage::reading is = server_.look(latch_cell);
    const std::uint64_t there = is.there ? latch_.expected - is.number : 0;
    if (there >= counted_ && there <= counted_ + perhaps_) return;
    world_.violate("I13: " + std::to_string(counted_) + " were counted, perhaps " + std::to_string(perhaps_) +
                   " more, and the latch says " + std::to_string(there));
  }

  void end() {
    for (const auto& c : clients_) {
      c->way->store().over = true;
      c->engine.close();
      c->engine.end();
    }
    while (world_.step()) {
    }
    for (const auto& c : clients_) {
      if (c->engine.tasks().running() != 0) world_.violate("I8: an announcement never ends");
    }
    const storage::reading is = server_.look(election_cell);
    if (is.there) world_.violate("I8: a leader is shown after all clients have left");
  }

  // ---- the world ----------------------------------------------------------------------------------------------------

  void make_trouble() {
    if (world_.now() > plan_.faults_end) return heal();
    client& victim = *clients_.at(world_.below(clients_.size()));
    if (plan_.pauses && world_.chance(0.3)) {
      ++result_.faults;
      victim.pause(world_.now() + world_.between(5ms, 700ms));
    }
    if (world_.chance(plan_.bad.refuse)) network_.refuse_until(world_.now() + world_.between(1ms, 250ms));
    world_.in(world_.between(5ms, 120ms), [this] { make_trouble(); });
  }
  void heal() {
    network_.now = weather();
    network_.refuse_until(world_.now());
  }
  void go_until(const std::function<bool()>& over, real at_most, const char* else_what) {
    const real last = world_.now() + at_most;
    while (!over() && !broken()) {
      if (world_.now() > last || !world_.step()) return world_.violate(else_what);
    }
  }
  void rest(real time) {
    bool over = false;
    world_.in(time, [&over] { over = true; });
    while (!over && world_.step()) {
    }
  }
  [[nodiscard]] bool broken() const { return !world_.violation().empty(); }
  [[nodiscard]] bool users_are_done() const {
    return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->users.running() == 0; });
  }

  world world_;
  const plan plan_;
  network network_;
  lease_service service_;
  number_server server_;
  const core::countdown latch_;
  result result_;
  std::uint64_t asked_for_ = 0, counted_ = 0, perhaps_ = 0;
  int living_ = 0;
  bool healed_ = false;
  std::deque<std::unique_ptr<client>> clients_;
};

}  // namespace

result run_numbers(std::uint64_t seed, bool trace) { return numbers(seed, trace).play(); }

}  // namespace holdfast::sim
