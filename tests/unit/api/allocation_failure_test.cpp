// Allocation failures: the n-th allocation of a call fails, for every n. Each n runs in a process of its own, so that a
// hang or an abort is seen and affects no other n.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/eventually.hpp"
#include "support/user_coroutine.hpp"

namespace {

/// The number of allocations that still succeed. If it is negative, allocations fail.
std::atomic<long> left{-1};
std::atomic<bool> is_short{false}, for_good{false}, has_failed{false};
thread_local bool spared = false;

}  // namespace

// These replace operator new and delete in this program. They are not inline, or g++ reports a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (is_short && !spared) {
    const long before = left--;
    if (before == 0 || (before < 0 && for_good)) {
      has_failed = true;
      throw std::bad_alloc();
    }
  }
  if (void* got = std::malloc(size == 0 ? 1 : size)) return got;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* gone) noexcept { std::free(gone); }
[[gnu::noinline]] void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// Names and labels that are too long for a string without an allocation.
constexpr std::string_view name = "a name that is longer than a short string";
constexpr lock_options usual{.ttl = 300ms, .label = "a label that is longer than a short string"};
/// A short ttl for locks that cannot be released.
constexpr lock_options brief{.ttl = 60ms, .label = usual.label};
constexpr lock_options other{.ttl = 290ms, .label = "another label that is longer than a short string"};

/// Allocations fail in this scope.
class shortage {
 public:
  shortage() { is_short = true; }
  shortage(const shortage&) = delete;
  shortage& operator=(const shortage&) = delete;
  ~shortage() { end(); }
  static void end() { is_short = false; }
};

class silent_observer final : public observer {
 public:
  void on(const event& e) noexcept override {
    if (e.what == event::kind::waiting) waiting.release();
  }
  std::counting_semaphore<> waiting{0};
};

/// A service, a client whose allocations fail, and one whose allocations succeed.
class world {
 public:
  world() : mine(open("memory:shared", {.observe = seen_})), theirs(open("memory:shared")) {
    const lease warm_up = mine.acquire("warm up");  // starts its threads
  }

  [[nodiscard]] std::optional<lease> take(const lock_options& on = usual) {
    std::error_code why;
    return mine.try_acquire(name, within(test::hang), on, why);
  }
  /// A caller waits in the queue; its allocations always succeed.
  std::thread wait_in_line(const lock_options& on, bool& served) {
    std::thread next([this, on, &served] {
      spared = true;
      served = take(on).has_value();
    });
    wait_for_a_waiter();
    return next;
  }
  void wait_for_a_waiter() { (void)test::happens(seen_->waiting); }
  [[nodiscard]] bool has_a_waiter() { return seen_->waiting.try_acquire(); }
  /// The lock can still be acquired by both clients, so nothing is stuck or held for ever.
  [[nodiscard]] bool can_be_had() {
    for (store* s : {&mine, &theirs, &mine}) {
      std::error_code why;
      if (!s->try_acquire(name, within(test::hang), brief, why)) return false;
    }
    return true;
  }

 private:
  const std::shared_ptr<silent_observer> seen_ = std::make_shared<silent_observer>();

 public:
  store mine, theirs;
};

bool release_with_a_waiter(const lock_options& waiter) {
  world w;
  std::optional<lease> held = w.take();
  bool served = false;
  std::thread next = w.wait_in_line(waiter, served);
  {
    const shortage now;
    (void)held->release();
  }
  next.join();
  HOLDFAST_SHOULD(served);
  held.reset();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool a_release_to_a_waiter_who_wants_the_same() { return release_with_a_waiter(usual); }
bool a_release_to_a_waiter_who_wants_something_else() { return release_with_a_waiter(other); }

bool a_release() {
  world w;
  std::optional<lease> held = w.take(brief);
  {
    const shortage now;
    (void)held->release();
    held.reset();
  }
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool a_release_in_a_callback() {
  world w;
  std::counting_semaphore<> called(0);
  w.mine.async_try_acquire(name, within(test::hang), brief, [&](std::error_code, std::optional<lease> got) {
    {
      const shortage now;
      (void)got->release();
      got.reset();
    }
    called.release();
  });
  HOLDFAST_SHOULD(test::happens(called));
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool an_acquire() {
  world w;
  {
    const shortage now;
    std::error_code why;
    const std::optional<lease> got = w.mine.try_acquire(name, within(test::hang), brief, why);
    shortage::end();
    HOLDFAST_SHOULD(got || why);
  }
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool an_acquire_of_a_store_that_has_not_begun() {
  store fresh = open("memory:shared");
  {
    const shortage now;
    std::error_code why;
    const std::optional<lease> got = fresh.try_acquire(name, within(test::hang), brief, why);
  }
  world w;
  HOLDFAST_SHOULD(w.can_be_had());
  HOLDFAST_SHOULD(fresh.try_acquire(name, within(test::hang), brief));
  return true;
}

bool an_acquire_in_line_that_gives_up() {
  world w;
  std::optional<lease> held = w.take({.ttl = 10s});
  {
    std::stop_source never_stopped;
    const shortage now;
    std::error_code why;
    HOLDFAST_SHOULD(!w.mine.try_acquire(name, within(2ms, never_stopped.get_token()), usual, why));
  }
  HOLDFAST_SHOULD(held->held());
  held.reset();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool an_acquire_in_the_stores_queue_that_gives_up() {
  world w;
  std::optional<lease> held = w.theirs.acquire(name, {.ttl = 10s});
  {
    const shortage now;
    std::error_code why;
    HOLDFAST_SHOULD(!w.mine.try_acquire(name, within(2ms), brief, why));
  }
  held.reset();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

/// Allocations of the waiter fail, those of the releasing caller succeed.
bool acquire_in_line(const lock_options& holder) {
  world w;
  std::optional<lease> held = w.take(holder);
  std::atomic<bool> ended{false};
  std::thread next([&] {
    const shortage now;
    std::error_code why;
    const std::optional<lease> got = w.mine.try_acquire(name, within(test::hang), usual, why);
    ended = true;
  });
  spared = true;
  HOLDFAST_SHOULD(test::eventually([&] { return ended || has_failed || w.has_a_waiter(); }));
  held.reset();
  next.join();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool an_acquire_in_line_that_is_served_by_hand() { return acquire_in_line(usual); }
bool an_acquire_in_line_that_is_called_in() { return acquire_in_line(other); }

bool renewals() {
  world w;
  const std::optional<lease> kept = w.take();
  const auto renewed = [&] {
    const auto before = kept->deadline();
    return test::eventually([&] { return !kept->held() || kept->deadline() > before; });
  };
  {
    const shortage now;
    HOLDFAST_SHOULD(renewed());
  }
  if (!for_good) {  // a failed renewal leaves time for another
    for (int k = 0; k < 2; ++k) HOLDFAST_SHOULD(renewed());
    HOLDFAST_SHOULD(kept->held());
  }
  const std::optional<lease> later = w.mine.acquire("later", {.ttl = 300ms});
  const auto before = later->deadline();
  HOLDFAST_SHOULD(test::eventually([&] { return later->deadline() > before; }));  // renewals continue
  return true;
}

bool a_renewal_by_the_holder() {
  world w;
  std::optional<lease> held = w.take({.ttl = 10s});
  {
    const shortage now;
    try {
      (void)held->renew(11s);
    } catch (const std::exception&) {  // the error is reported this way
    }
  }
  HOLDFAST_SHOULD(held->renew(12s));
  held.reset();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool a_loss() {
  world w;
  std::optional<lease> fixed = w.mine.acquire(name, {.ttl = 15ms, .renew = false});
  const std::stop_token lost = fixed->lost_token();
  {
    const shortage now;
    HOLDFAST_SHOULD(test::eventually([&] { return !fixed->held() && (has_failed || lost.stop_requested()); }));
  }
  HOLDFAST_SHOULD(w.can_be_had());
  HOLDFAST_SHOULD(fixed->release() == released::lost);
  return true;
}

bool a_callback() {
  world w;
  std::counting_semaphore<> called(0);
  std::atomic<bool> over{false};
  bool begun = false;
  {
    const shortage now;
    try {
      w.mine.async_try_acquire(name, within(test::hang), brief, [&](std::error_code, const std::optional<lease>&) {
        shortage::end();
        over = true;
        called.release();
      });
      begun = true;
    } catch (const std::exception&) {  // then the callback is not called
    }
    if (begun) HOLDFAST_SHOULD(test::eventually([&] { return over || (for_good && has_failed); }));
  }
  if (begun) HOLDFAST_SHOULD(test::happens(called));
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

test::user_coroutine give_back(lease& held, std::atomic<bool>& over, std::counting_semaphore<>& ended) {
  try {
    const released how = co_await held.async_release();
    (void)how;
  } catch (const std::exception&) {  // its owner still has the lock then
  }
  shortage::end();
  over = true;
  ended.release();
}

bool a_release_by_a_coroutine() {
  world w;
  std::optional<lease> held = w.take(brief);
  std::atomic<bool> over{false};
  std::counting_semaphore<> ended(0);
  {
    const shortage now;
    try {
      give_back(*held, over, ended);
    } catch (const std::bad_alloc&) {  // not even the frame of the test's coroutine could be allocated
      over = true;
      ended.release();
    }
    HOLDFAST_SHOULD(test::eventually([&] { return over || (for_good && has_failed); }));
  }
  HOLDFAST_SHOULD(test::happens(ended));
  held.reset();
  HOLDFAST_SHOULD(w.can_be_had());
  return true;
}

bool a_mutex() {
  world w;
  mutex m(w.mine, name, brief);
  {
    const shortage now;
    try {
      m.lock();
      m.unlock();
    } catch (const std::exception&) {
    }
  }
  HOLDFAST_SHOULD(w.can_be_had());
  m.lock();
  m.unlock();
  return true;
}

struct trial {
  const char* of;
  bool (*ends_well)();
  friend void PrintTo(const trial& t, std::ostream* to) { *to << t.of; }
};

class lack_of_memory : public testing::TestWithParam<trial> {
 protected:
  /// Tries every n, several at a time, until there is no n-th allocation.
  static void fails_at_every_n(bool from_then_on) {
    constexpr long at_a_time = 32, enough = 400;
    auto* const reached = static_cast<std::atomic<bool>*>(
        ::mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(reached), MAP_FAILED);
    long n = 0;
    for (bool more = true; more && n < enough;) {
      std::vector<std::unique_ptr<test::child>> some;
      for (long k = n; k < n + at_a_time; ++k) {
        some.push_back(std::make_unique<test::child>([=] {
          for_good = from_then_on;
          left = k;
          const bool well = GetParam().ends_well();
          reached[k] = has_failed.load();
          return well;
        }));
      }
      for (const auto& one : some) {
        EXPECT_TRUE(one->ends_well()) << "when allocation " << n << " fails";
        more = reached[n++] && !testing::Test::HasFailure();
      }
    }
    EXPECT_TRUE(reached[0]) << "nothing was allocated, so nothing was tested";
    EXPECT_LT(n, enough);
    ::munmap(reached, enough);
  }
};

TEST_P(lack_of_memory, is_harmless_for_one_allocation) { fails_at_every_n(false); }

TEST_P(lack_of_memory, is_harmless_for_many_allocations) { fails_at_every_n(true); }

#define HOLDFAST_TRIAL(of) \
  trial { #of, of }
INSTANTIATE_TEST_SUITE_P(during, lack_of_memory,
                         testing::Values(HOLDFAST_TRIAL(a_release),
                                         HOLDFAST_TRIAL(a_release_to_a_waiter_who_wants_the_same),
                                         HOLDFAST_TRIAL(a_release_to_a_waiter_who_wants_something_else),
                                         HOLDFAST_TRIAL(a_release_in_a_callback),
                                         HOLDFAST_TRIAL(a_release_by_a_coroutine), HOLDFAST_TRIAL(an_acquire),
                                         HOLDFAST_TRIAL(an_acquire_of_a_store_that_has_not_begun),
                                         HOLDFAST_TRIAL(an_acquire_in_line_that_gives_up),
                                         HOLDFAST_TRIAL(an_acquire_in_the_stores_queue_that_gives_up),
                                         HOLDFAST_TRIAL(an_acquire_in_line_that_is_served_by_hand),
                                         HOLDFAST_TRIAL(an_acquire_in_line_that_is_called_in), HOLDFAST_TRIAL(renewals),
                                         HOLDFAST_TRIAL(a_renewal_by_the_holder), HOLDFAST_TRIAL(a_loss),
                                         HOLDFAST_TRIAL(a_callback), HOLDFAST_TRIAL(a_mutex)),
                         [](const auto& at) { return std::string(at.param.of); });

}  // namespace
}  // namespace holdfast
