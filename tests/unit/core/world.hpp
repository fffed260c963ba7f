#pragma once
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "memory/client.hpp"
#include "support/manual_executor.hpp"
#include "support/manual_io.hpp"
#include "support/recorder.hpp"
#include "support/started.hpp"
#include "support/watched_store.hpp"

namespace holdfast::core::engine_tests {

using namespace std::chrono_literals;
using holdfast::test::is_ready;
using call = holdfast::test::watched_store::call;
using kind = outcome::kind;

/// A lock service on a clock that only the test advances.
struct world {
  holdfast::test::manual_io io;
  holdfast::test::manual_executor user;
  std::shared_ptr<memory::server> server = std::make_shared<memory::server>();

  /// Runs everything that is ready, including user code.
  void run() {
    io.run();
    user.run();
  }
  void advance(span by) {
    io.advance(by);
    user.run();
  }
  void lose_all_requests() { server->set_faults({.lose_requests = 1}); }
  void heal() { server->set_faults({}); }
};

/// How a caller acquires. The defaults are those of the library.
struct wish {
  terms on{.ttl = 10s};
  std::optional<span> within{};
  std::stop_token stop{};
  bool one_look = false;
  bool bounded = false;
  bool needs_answer = false;
};

/// A process with an engine. Its destructor releases all leases and checks that nothing is left.
class client {
 public:
  explicit client(world& w, engine::settings s = {.patience = 5s, .burst = 16})
      : world_(w),
        user_(w.user.poster(), [](const char*) {}),
        engine(store, w.io, user_, reporter(seen), s),
        callers_(w.io) {
    engine.start();
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() {
    world_.heal();
    store.deliver();
    engine.close();
    world_.run();
    for (const auto& lease : leases_) (void)give(lease);
    engine.end();
    world_.run();
    EXPECT_EQ(callers_.running(), 0) << "a caller hangs";
    EXPECT_EQ(engine.tasks().running(), 0) << "a background task hangs";
    EXPECT_EQ(engine.holdings(), 0u) << "a holding was forgotten";
    EXPECT_EQ(engine.queues(), 0u) << "a name was forgotten";
  }

  /// Begins an acquire, and runs until it waits.
  std::future<outcome> ask(const std::string& name, const wish& w = {}) {
    const instant until = w.within ? world_.io.now() + *w.within : runtime::never;
    request r(name, w.on, limit(until, w.stop), w.one_look);
    r.bounded = w.bounded;
    r.needs_answer = w.needs_answer;
    std::future<outcome> end = holdfast::test::start(callers_, remember(engine.acquire(world_.io, std::move(r))));
    world_.run();
    return end;
  }
  /// The outcome of an acquire that must have ended.
  outcome end_of(std::future<outcome>& asked) {
    if (!is_ready(asked)) {
      ADD_FAILURE() << "it has not ended";
      return outcome::stopped();
    }
    return asked.get();
  }
  /// An acquire that must succeed at once.
  std::shared_ptr<lease_state> take(const std::string& name, const wish& w = {}) {
    std::future<outcome> asked = ask(name, w);
    return taken(asked);
  }
  /// The lease of an acquire that must have succeeded.
  std::shared_ptr<lease_state> taken(std::future<outcome>& asked) {
    const outcome end = end_of(asked);
    if (end.lease) return end.lease;
    ADD_FAILURE() << "not granted";
    throw std::runtime_error("not granted");
  }
  outcome look(const std::string& name, const wish& w = {}) {
    wish once = w;
    once.one_look = true;
    std::future<outcome> asked = ask(name, once);
    return end_of(asked);
  }

  std::future<released> give(const std::shared_ptr<lease_state>& lease, span within = 1s) {
    std::future<released> end =
        holdfast::test::start(callers_, engine.release(world_.io, lease, limit(world_.io.now() + within)));
    world_.run();
    return end;
  }
  std::future<storage::answer<instant>> renew(const std::shared_ptr<lease_state>& lease, milliseconds ttl,
                                              span within = 1s) {
    std::future<storage::answer<instant>> end =
        holdfast::test::start(callers_, engine.renew(world_.io, lease, ttl, limit(world_.io.now() + within)));
    world_.run();
    return end;
  }
  [[nodiscard]] bool held(const std::shared_ptr<lease_state>& lease) const { return lease->held(world_.io.now()); }

 private:
  task<outcome> remember(task<outcome> asked) {
    outcome end = co_await asked;
    if (end.lease) leases_.push_back(end.lease);
    co_return end;
  }

  world& world_;
  runtime::executor user_;

 public:
  holdfast::test::watched_store store{std::make_unique<memory::client>(world_.server)};
  std::shared_ptr<holdfast::test::recorder> seen = std::make_shared<holdfast::test::recorder>();
  core::engine engine;

 private:
  runtime::task_group callers_;
  std::vector<std::shared_ptr<lease_state>> leases_;
};

/// A world with one process, to which a test may add more.
class engine_test : public testing::Test {
 protected:
  world world_;
  client client_{world_};
};

}  // namespace holdfast::core::engine_tests
