#include <algorithm>
#include <thread>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class asking : public suite {
 protected:
  /// Waits until the n-th client has received all earlier revoke requests. It must hold the name.
  void wait_for_all_that_was_asked(std::size_t n, std::string_view other) {
    EXPECT_TRUE(client(9).revoke(other, "the last"));
    const auto heard = [&] {
      const auto events = seen(n).events(event::kind::revoke_requested);
      return std::any_of(events.begin(), events.end(), [](const auto& e) { return e.text == "the last"; });
    };
    for (std::size_t times = 1; !heard(); ++times) {
      if (!seen(n).comes(event::kind::revoke_requested, times)) break;
    }
    EXPECT_TRUE(heard());
  }
  [[nodiscard]] std::size_t times_asked(std::size_t n, std::string_view name) {
    const auto events = seen(n).events(event::kind::revoke_requested);
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const auto& e) { return e.name == name; }));
  }
};
HOLDFAST_FOR(asking, stores_with({}));

TEST_OF_STORES(asking, returns_false_for_a_free_lock) { EXPECT_FALSE(client().revoke("a")); }

TEST_OF_STORES(asking, returns_false_for_a_released_lock) {
  client(0).acquire("a").release();
  EXPECT_FALSE(client(1).revoke("a"));
}

TEST_OF_STORES(asking, reaches_the_holder_which_keeps_the_lock_until_release) {
  lease held = client(0).acquire("a", {.ttl = brief()});
  const std::stop_token asked = held.revoke_requested();
  EXPECT_FALSE(asked.stop_requested());
  EXPECT_TRUE(client(1).revoke("a", "a new version is to be installed"));
  EXPECT_TRUE(test::happens(asked));
  EXPECT_TRUE(seen(0).comes(event::kind::revoke_requested));
  const auto heard = seen(0).events(event::kind::revoke_requested).front();
  EXPECT_EQ(heard.name, "a");
  EXPECT_EQ(heard.fence, held.fence());
  EXPECT_EQ(heard.text, "a new version is to be installed");
  EXPECT_FALSE(is_free("a"));
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(held.lost_token().stop_requested());
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(asking, reaches_a_holder_that_takes_its_token_later) {
  const lease held = client(0).acquire("a", {.ttl = brief()});
  EXPECT_TRUE(client(1).revoke("a"));
  EXPECT_TRUE(seen(0).comes(event::kind::revoke_requested));
  EXPECT_TRUE(test::happens(held.revoke_requested()));
}

TEST_OF_STORES(asking, reaches_a_holder_of_the_same_client) {
  const lease held = client().acquire("a", {.ttl = brief()});
  EXPECT_TRUE(client().revoke("a"));
  EXPECT_TRUE(test::happens(held.revoke_requested()));
}

TEST_OF_STORES(asking, reaches_a_holder_that_had_waited_for_the_lock) {
  std::optional<lease> first = client(0).acquire("a");
  std::future<lease> waiting =
      in_background([s = client(1), ttl = brief()]() mutable { return s.acquire("a", {.ttl = ttl}); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  first.reset();
  const lease second = test::get(std::move(waiting));
  EXPECT_TRUE(client(0).revoke("a"));
  EXPECT_TRUE(test::happens(second.revoke_requested()));
}

TEST_OF_STORES(asking, carries_any_reason_of_256_bytes) {
  const lease held = client(0).acquire("a", {.ttl = brief()});
  std::string reason(256, 'x');
  for (std::size_t n = 0; n < 255; ++n) reason[n] = static_cast<char>(n + 1);
  EXPECT_TRUE(client(1).revoke("a", reason));
  EXPECT_TRUE(seen(0).comes(event::kind::revoke_requested));
  EXPECT_EQ(seen(0).events(event::kind::revoke_requested).front().text, reason);
}

TEST_OF_STORES(asking, for_one_of_several_names_reaches_the_holder_of_all) {
  lease all = client(0).acquire({"c", "a", "b"}, {.ttl = brief()});
  EXPECT_TRUE(client(1).revoke("b", "a part of it"));
  EXPECT_TRUE(test::happens(all.revoke_requested()));
  EXPECT_EQ(all.release(), released::yes);
  lease again = client(0).acquire({"a", "b"}, {.ttl = brief()});
  EXPECT_TRUE(client(1).revoke("b", "this very one", again.fence("b")));
  EXPECT_TRUE(test::happens(again.revoke_requested()));
  EXPECT_EQ(again.release(), released::yes);
}

TEST_OF_STORES(asking, twice_notifies_the_holder_once) {
  const lease held = client(0).acquire("a", {.ttl = brief()});
  const lease other = client(0).acquire("b", {.ttl = brief()});
  EXPECT_TRUE(client(1).revoke("a", "first"));
  EXPECT_TRUE(seen(0).comes(event::kind::revoke_requested));
  EXPECT_TRUE(client(1).revoke("a", "second"));
  wait_for_all_that_was_asked(0, "b");
  EXPECT_EQ(times_asked(0, "a"), 1u);
}

TEST_OF_STORES(asking, of_a_former_holder_does_not_reach_the_next_one) {
  lease first = client(0).acquire("a", {.ttl = brief()});
  const lease other = client(1).acquire("b", {.ttl = brief()});
  EXPECT_TRUE(client(2).revoke("a"));
  first.release();
  lease next = client(1).acquire("a", {.ttl = brief()});
  EXPECT_TRUE(next.renew(brief()));
  wait_for_all_that_was_asked(1, "b");
  EXPECT_EQ(times_asked(1, "a"), 0u);
  EXPECT_FALSE(next.revoke_requested().stop_requested());
}

TEST_OF_STORES(asking, at_the_moment_of_release_does_not_reach_the_next_holder) {
  const lease other = client(1).acquire("b", {.ttl = brief()});
  for (int times = 0; times < 20; ++times) {
    lease first = client(0).acquire("a");
    const std::uint64_t fence = first.fence();
    std::jthread asks([&, s = client(2)] { (void)s.revoke("a", "", fence); });
    first.release();
    const lease next = client(1).acquire("a");
  }
  wait_for_all_that_was_asked(1, "b");
  EXPECT_EQ(times_asked(1, "a"), 0u);
}

TEST_OF_STORES(asking, with_a_fence_reaches_the_lease_that_has_it_and_no_other) {
  const std::uint64_t earlier = client(0).acquire("a").fence();
  const lease held = client(0).acquire("a", {.ttl = brief()});
  const lease other = client(0).acquire("b", {.ttl = brief()});
  EXPECT_FALSE(client(1).revoke("a", "", held.fence() + 1'000)) << "a later one";
  EXPECT_FALSE(client(1).revoke("a", "", earlier)) << "an earlier one";
  EXPECT_FALSE(client(1).revoke("a", "", ~std::uint64_t{0})) << "none";
  (void)client(1).revoke("a", "", held.fence() + 1);  // the holder's process may pass the lock on with this fence
  wait_for_all_that_was_asked(0, "b");
  EXPECT_EQ(times_asked(0, "a"), 0u);
  EXPECT_TRUE(client(1).revoke("a", "", held.fence()));
  EXPECT_TRUE(test::happens(held.revoke_requested()));
}

class asking_in_order : public asking {};
HOLDFAST_FOR(asking_in_order, fair_stores());

TEST_OF_STORES(asking_in_order, keeps_the_lock_from_being_passed_on_within_the_process) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::future<lease> here = in_background([s = client(0)]() mutable { return s.acquire("a", {.ttl = 1h}); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  std::future<lease> elsewhere = in_background([s = client(1)]() mutable { return s.acquire("a"); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_TRUE(client(2).revoke("a"));
  EXPECT_TRUE(held.renew(1h));  // the reply carries the request if the message did not arrive
  EXPECT_TRUE(test::happens(held.revoke_requested()));
  held.release();
  lease next = test::get(std::move(elsewhere));
  EXPECT_TRUE(next.held());
  next.release();
  const lease last = test::get(std::move(here));
}

class asking_of_some : public asking {};
HOLDFAST_FOR(asking_of_some, stores_with({power::share}));

TEST_OF_STORES(asking_of_some, reaches_all_readers) {
  const lease one = client(0).acquire("a", {.ttl = brief(), .shared = true});
  const lease two = client(0).acquire("a", {.ttl = brief(), .shared = true});
  const lease three = client(1).acquire("a", {.ttl = brief(), .shared = true});
  EXPECT_TRUE(client(2).revoke("a"));
  EXPECT_TRUE(test::happens(one.revoke_requested()));
  EXPECT_TRUE(test::happens(two.revoke_requested()));
  EXPECT_TRUE(test::happens(three.revoke_requested()));
}

TEST_OF_STORES(asking_of_some, does_not_reach_later_readers) {
  const lease one = client(0).acquire("a", {.ttl = brief(), .shared = true});
  const lease other = client(1).acquire("b", {.ttl = brief()});
  EXPECT_TRUE(client(2).revoke("a"));
  lease later = client(1).acquire("a", {.ttl = brief(), .shared = true});
  EXPECT_TRUE(later.renew(brief()));
  EXPECT_TRUE(test::happens(one.revoke_requested()));
  wait_for_all_that_was_asked(1, "b");
  EXPECT_EQ(times_asked(1, "a"), 0u);
}

TEST_OF_STORES(asking_of_some, reaches_all_permit_holders_and_no_later_one) {
  semaphore here(client(0), "a", 10, {.ttl = brief()});
  semaphore there(client(1), "a", 10, {.ttl = brief()});
  const lease one = here.take(2);
  const lease two = there.take(3);
  const lease other = client(1).acquire("b", {.ttl = brief()});
  EXPECT_TRUE(client(2).revoke("a"));
  lease later = there.take(1);
  EXPECT_TRUE(later.renew(brief()));
  EXPECT_TRUE(test::happens(one.revoke_requested()));
  EXPECT_TRUE(test::happens(two.revoke_requested()));
  wait_for_all_that_was_asked(1, "b");
  EXPECT_EQ(times_asked(1, "a"), 1u);
  EXPECT_FALSE(later.revoke_requested().stop_requested());
}

TEST_OF_STORES(asking_of_some, reaches_a_writer_that_has_become_a_reader) {
  shared_mutex m(client(0), "a", {.ttl = brief()});
  m.lock();
  EXPECT_TRUE(client(1).revoke("a"));
  m.unlock_and_lock_shared();
  EXPECT_TRUE(seen(0).comes(event::kind::revoke_requested));
  m.unlock_shared();
}

class asking_in_vain : public suite {};
HOLDFAST_FOR(asking_in_vain, stores_with({power::fall_silent}));

TEST_OF_STORES(asking_in_vain, of_a_store_that_gives_no_answer_is_an_error) {
  const store impatient = service_->open({.patience = 50ms});
  const lease held = client().acquire("a");
  service_->fall_silent();
  try {
    (void)impatient.revoke("a");
    FAIL() << "no answer is not an answer";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unreachable);
    EXPECT_EQ(e.lock(), "a");
  }
  service_->heal();
}

class asking_the_dead : public suite {};
HOLDFAST_FOR(asking_the_dead, stores_with({power::end_clients}, guarantees::exclusion::kernel));

TEST_OF_STORES(asking_the_dead, returns_false) {
  store asks = client(0);
  lease held = client(1).acquire("a");
  service_->kill_newest();
  EXPECT_FALSE(asks.revoke("a"));
  EXPECT_TRUE(is_free("a"));
}

class asking_a_stopped_holder : public suite {};
HOLDFAST_FOR(asking_a_stopped_holder, stores_with({power::stop_clients}));

TEST_OF_STORES(asking_a_stopped_holder, reaches_it_when_it_continues) {
  store asks = client(0);
  const lease held = client(1).acquire("a");
  service_->stop_newest();
  EXPECT_TRUE(asks.revoke("a"));
  service_->continue_newest();
  lease also = client(1).acquire("b");
  EXPECT_TRUE(test::happens(held.revoke_requested()));
}

}  // namespace
}  // namespace holdfast::conformance
