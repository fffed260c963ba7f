// Random histories of one name, compared with storage::lock_queue step by step.
#include <algorithm>
#include <array>
#include <random>

#include "conformance/suite.hpp"
#include "storage/lock_queue.hpp"

namespace holdfast::conformance {
namespace {

using storage::lock_queue;
using storage::share;

/// Each of several clients holds the name, waits for it, or does neither. After each step exactly those clients hold it
/// that the rule admits.
class histories : public suite {
 protected:
  static constexpr std::size_t clients = 6;
  static constexpr lock_options patient{.ttl = 1h};  // nothing expires while it runs

  void run(std::uint32_t seed, std::uint32_t whole) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_.seed(seed);
    whole_ = whole;
    for (int step = 0; step < 60 && !HasFailure(); ++step) {
      const std::size_t who = pick(clients);
      actor& a = actors_[who];
      SCOPED_TRACE("step " + std::to_string(step) + ", client " + std::to_string(who));
      if (a.held) {
        release(who);
      } else if (a.asking.valid()) {
        if (pick(4) == 0) give_up(who);
      } else {
        ask(who);
      }
      compare();
    }
    while (!rule_.holders().empty() && !HasFailure()) {
      release(holder());
      compare();
    }
    EXPECT_TRUE(rule_.idle());
  }

 private:
  struct actor {
    share wants{};
    std::optional<lease> held{};
    std::future<std::optional<lease>> asking{};
    std::stop_source stop{};
  };

  std::size_t pick(std::size_t below) { return random_() % below; }
  static storage::owner_id owner_of(std::size_t who) { return {1, who + 1}; }
  std::size_t holder() const { return rule_.holders().front().owner.low - 1; }
  bool should_hold(std::size_t who) const {
    return std::ranges::find(rule_.holders(), owner_of(who), &lock_queue::holder::owner) != rule_.holders().end();
  }

  void ask(std::size_t who) {
    actor& a = actors_[who];
    a.stop = std::stop_source();
    const std::size_t waited = seen(who).events(event::kind::waiting).size();
    if (whole_ == share::lock) {
      a.wants = pick(2) == 0 ? share::reader() : share{};
    } else {
      a.wants = share::permits(static_cast<std::uint32_t>(1 + pick(whole_)), whole_);
    }
    a.asking = in_background([s = client(who), wants = a.wants, stop = a.stop.get_token()]() mutable {
      if (!wants.of_a_lock()) {
        return semaphore(s, "a", static_cast<std::ptrdiff_t>(wants.whole), patient)
            .try_take(until(stop), static_cast<std::ptrdiff_t>(wants.part));
      }
      lock_options how = patient;
      how.shared = !wants.exclusive();
      return s.try_acquire("a", until(stop), how);
    });
    (void)rule_.acquire({owner_of(who), a.wants, patient.ttl}, lock_queue::mode::queue, now_);
    if (!should_hold(who)) {
      EXPECT_TRUE(seen(who).comes(event::kind::waiting, waited + 1));
    }
  }

  void release(std::size_t who) {
    EXPECT_EQ(actors_[who].held->release(), released::yes);
    actors_[who].held.reset();
    EXPECT_TRUE(rule_.release(owner_of(who), false, now_));
  }

  void give_up(std::size_t who) {
    actors_[who].stop.request_stop();
    EXPECT_FALSE(test::get(std::move(actors_[who].asking)));
    EXPECT_TRUE(rule_.release(owner_of(who), false, now_));
  }

  /// Checks that exactly the clients that the rule admitted hold the name.
  void compare() {
    for (std::size_t who = 0; who < clients; ++who) {
      actor& a = actors_[who];
      if (a.held || !a.asking.valid()) {
        EXPECT_EQ(a.held.has_value(), should_hold(who)) << "client " << who;
      } else if (should_hold(who)) {
        a.held = test::get(std::move(a.asking));
        if (!a.held) {
          ADD_FAILURE() << "client " << who << " left without the lock";
        } else {
          check_fence(a);
        }
      } else {
        EXPECT_EQ(a.asking.wait_for(0s), std::future_status::timeout) << "client " << who << " was admitted too early";
      }
    }
  }

  void check_fence(const actor& a) {
    if (a.wants == share::reader()) {
      EXPECT_GT(a.held->fence(), last_writer_);
    } else if (a.wants.exclusive()) {
      EXPECT_GT(a.held->fence(), last_);
      last_writer_ = a.held->fence();
    }
    last_ = std::max(last_, a.held->fence());
  }

  const runtime::instant now_{1h};
  std::mt19937 random_;
  std::uint32_t whole_ = share::lock;
  std::array<actor, clients> actors_;
  std::uint64_t fence_ = 0, last_ = 0, last_writer_ = 0;
  lock_queue rule_{[this](const share&) { return ++fence_; }, [](const storage::owner_id&) {}};
};
HOLDFAST_FOR(histories, stores_with({power::share}));

TEST_OF_STORES(histories, of_readers_and_writers_follow_the_rule) {
  for (std::uint32_t seed = 1; seed <= 8 && !HasFailure(); ++seed) run(seed, share::lock);
}

TEST_OF_STORES(histories, of_permits_follow_the_rule) {
  for (std::uint32_t seed = 1; seed <= 8 && !HasFailure(); ++seed) run(seed, 4);
}

}  // namespace
}  // namespace holdfast::conformance
