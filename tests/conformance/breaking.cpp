#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::system_clock;

bool is_about_now(const std::optional<system_clock::time_point>& when) {
  return when && *when <= system_clock::now() && *when > system_clock::now() - test::hang;
}

class breaking : public suite {
 protected:
  /// Waits for the name with a client of its own, which receives the notifications of the store.
  [[nodiscard]] std::future<lease> wait_in_background(std::size_t n, std::chrono::milliseconds ttl) {
    std::future<lease> waiting = in_background([s = client(n), ttl]() mutable { return s.acquire("a", {.ttl = ttl}); });
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
    return waiting;
  }
};
HOLDFAST_FOR(breaking, stores_with({power::oversee}));

TEST_OF_STORES(breaking, returns_false_for_a_free_lock) {
  EXPECT_FALSE(client().break_lock("a", 17, "a try"));
  EXPECT_FALSE(client().break_lock("a", 0, "a try", std::string(32, 'a')));
  EXPECT_FALSE(client().inspect("a").broken);
}

TEST_OF_STORES(breaking, takes_the_lock_from_its_holder_and_notifies_it) {
  lease held = client(0).acquire("a", {.ttl = brief()});
  const std::uint64_t fence = held.fence();
  EXPECT_TRUE(client(1).break_lock("a", fence, "it hangs"));
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(test::happens(held.lost_token()));
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.release(), released::lost);
  EXPECT_GT(client(1).acquire("a").fence(), fence);
  ASSERT_TRUE(seen(0).comes(event::kind::lost));
  const std::string why = seen(0).events(event::kind::lost).front().text;
  EXPECT_TRUE(why.starts_with("broken by ") && why.ends_with(": it hangs")) << why;
}

TEST_OF_STORES(breaking, lets_no_renewal_bring_it_back) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_TRUE(client(1).break_lock("a", held.fence(), "it hangs"));
  EXPECT_FALSE(held.renew(1h));
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(breaking, a_fixed_lease_takes_it_too) {
  const lease held = client(0).acquire("a", {.ttl = 1h, .renew = false});
  EXPECT_TRUE(client(1).break_lock("a", held.fence(), "it hangs"));
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(breaking, admits_a_waiter_whose_lock_can_then_be_broken) {
  lease first = client(0).acquire("a", {.ttl = 1h});
  std::future<lease> second = wait_in_background(1, 1h);
  EXPECT_TRUE(client(3).break_lock("a", first.fence(), "it hangs"));
  lease next = test::get(std::move(second));
  EXPECT_GT(next.fence(), first.fence());
  EXPECT_FALSE(client(3).break_lock("a", first.fence(), "again")) << "the break does not apply to the current holder";
  EXPECT_TRUE(next.renew(1h));
  // The holder has waited, so it is subscribed and learns of the loss long before its renewal.
  EXPECT_TRUE(client(3).break_lock("a", next.fence(), "this one, too"));
  EXPECT_TRUE(test::happens(next.lost_token()));
  EXPECT_TRUE(is_free("a"));
}

class breaking_in_order : public breaking {};
HOLDFAST_FOR(breaking_in_order, fair_stores());

TEST_OF_STORES(breaking_in_order, hands_the_lock_to_the_next_in_line_at_once) {
  lease first = client(0).acquire("a", {.ttl = 1h});
  std::future<lease> second = wait_in_background(1, 1h);
  std::future<lease> third = wait_in_background(2, 1h);
  EXPECT_TRUE(client(3).break_lock("a", first.fence(), "it hangs"));
  lease next = test::get(std::move(second));
  EXPECT_GT(next.fence(), first.fence());
  EXPECT_TRUE(client(3).break_lock("a", next.fence(), "this one, too"));
  EXPECT_TRUE(test::happens(next.lost_token()));
  const lease last = test::get(std::move(third));
  EXPECT_GT(last.fence(), next.fence());
}

TEST_OF_STORES(breaking, returns_false_the_second_time) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_TRUE(client(1).break_lock("a", held.fence(), "once"));
  EXPECT_FALSE(client(1).break_lock("a", held.fence(), "twice"));
  const state is = client(1).inspect("a");
  ASSERT_TRUE(is.broken);
  EXPECT_EQ(is.broken->reason, "once");
}

TEST_OF_STORES(breaking, with_a_fence_of_others_takes_nothing) {
  const std::uint64_t earlier = client(0).acquire("a").fence();
  lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_FALSE(client(1).break_lock("a", earlier, "too late"));
  EXPECT_FALSE(client(1).break_lock("a", held.fence() + 1'000, "too early"));
  EXPECT_FALSE(client(1).break_lock("a", ~std::uint64_t{0}, "none"));
  EXPECT_FALSE(client(1).break_lock("a", held.fence(), "another's", std::string(32, 'a')));
  EXPECT_TRUE(held.renew(1h));
  EXPECT_FALSE(client(1).inspect("a").broken);
}

TEST_OF_STORES(breaking, by_any_fence_of_the_block) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_TRUE(client(1).break_lock("a", held.fence() + 63, "the lease after some that were handed on"));
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(breaking, by_the_owner_alone) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_TRUE(client(1).break_lock("a", 0, "whatever its fence", held.owner()));
  EXPECT_TRUE(is_free("a"));
  EXPECT_EQ(client(1).inspect("a").broken.value().fence, held.fence());
}

TEST_OF_STORES(breaking, leaves_a_note_that_the_next_holder_does_not_end) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  std::string reason(256, 'x');
  for (std::size_t n = 0; n < 255; ++n) reason[n] = static_cast<char>(n + 1);
  EXPECT_TRUE(client(1).break_lock("a", held.fence(), reason));
  const lease next = client(2).acquire("a", {.ttl = 1h});
  const state is = client(0).inspect("a");
  ASSERT_TRUE(is.broken);
  EXPECT_EQ(is.broken->reason, reason);
  EXPECT_EQ(is.broken->fence, held.fence());
  EXPECT_NE(is.broken->by.find("@"), std::string::npos) << is.broken->by;
  EXPECT_NE(is.broken->by.find(" pid "), std::string::npos) << is.broken->by;
  EXPECT_TRUE(is_about_now(is.broken->at));
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holders.front().owner, next.owner());
}

TEST_OF_STORES(breaking, does_not_wait_for_the_lock_delay) {
  const lease held = client(0).acquire("a", {.ttl = 10min, .delay = 10min});
  EXPECT_TRUE(client(1).break_lock("a", held.fence(), "it hangs"));
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(breaking, one_of_several_names_loses_all_of_them) {
  const lease all = client(0).acquire({"a", "b"}, {.ttl = brief()});
  EXPECT_TRUE(client(1).break_lock("b", all.fence("b"), "a part of it"));
  EXPECT_TRUE(test::happens(all.lost_token()));
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)).has_value());
}

TEST_OF_STORES(breaking, refuses_arguments_that_name_no_holder) {
  const auto code = [&](std::uint64_t fence, std::string_view reason, std::string_view owner) {
    try {
      (void)client().break_lock("a", fence, reason, owner);
    } catch (const lock_error& e) {
      return e.code();
    }
    return std::error_code();
  };
  EXPECT_EQ(code(0, "", ""), errc::bad_option);
  EXPECT_EQ(code(0, "", "me"), errc::bad_option);
  EXPECT_EQ(code(1, std::string(257, 'x'), ""), errc::bad_option);
}

TEST_OF_STORES(breaking, shows_since_when_a_lock_is_held) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  const state is = client(1).inspect("a");
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_TRUE(is_about_now(is.holders.front().since));
}

TEST_OF_STORES(breaking, shows_that_a_holder_is_asked_for_as_long_as_it_holds) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_FALSE(client(1).inspect("a").asked);
  EXPECT_TRUE(client(1).revoke("a", "a new version is to be installed"));
  const state is = client(2).inspect("a");
  ASSERT_TRUE(is.asked);
  EXPECT_EQ(is.asked->reason, "a new version is to be installed");
  EXPECT_EQ(is.asked->fence, 0u);
  EXPECT_NE(is.asked->by.find(" pid "), std::string::npos) << is.asked->by;
  EXPECT_TRUE(is_about_now(is.asked->at));
  held.release();
  EXPECT_FALSE(client(2).inspect("a").asked);
  const lease next = client(0).acquire("a", {.ttl = 1h});
  EXPECT_FALSE(client(2).inspect("a").asked) << "the request was not for the current holder";
}

class breaking_of_some : public breaking {};
HOLDFAST_FOR(breaking_of_some, stores_with({power::oversee, power::share}));

TEST_OF_STORES(breaking_of_some, takes_it_from_all_readers) {
  const lease one = client(0).acquire("a", {.ttl = brief(), .shared = true});
  const lease two = client(1).acquire("a", {.ttl = brief(), .shared = true});
  std::future<lease> writer = wait_in_background(2, 1h);
  EXPECT_TRUE(client(3).break_lock("a", one.fence(), "they hang"));
  EXPECT_TRUE(test::happens(one.lost_token()));
  EXPECT_TRUE(test::happens(two.lost_token()));
  EXPECT_GT(test::get(std::move(writer)).fence(), one.fence());
}

TEST_OF_STORES(breaking_of_some, takes_it_from_one_reader_of_many) {
  lease one = client(0).acquire("a", {.ttl = brief(), .shared = true});
  lease two = client(1).acquire("a", {.ttl = brief(), .shared = true});
  lease three = client(1).acquire("a", {.ttl = brief(), .shared = true});
  EXPECT_TRUE(client(3).break_lock("a", two.fence(), "it hangs", two.owner()));
  EXPECT_TRUE(test::happens(two.lost_token()));
  EXPECT_TRUE(one.renew(brief()));
  EXPECT_TRUE(three.renew(brief()));
  EXPECT_EQ(client(3).inspect("a").holding, 2u);
  EXPECT_FALSE(is_free("a"));
}

TEST_OF_STORES(breaking_of_some, of_the_last_reader_lets_a_writer_in) {
  const lease one = client(0).acquire("a", {.ttl = brief(), .shared = true});
  std::future<lease> writer = wait_in_background(1, 1h);
  EXPECT_TRUE(client(3).break_lock("a", one.fence(), "it hangs", one.owner()));
  EXPECT_TRUE(test::get(std::move(writer)).held());
  EXPECT_TRUE(test::happens(one.lost_token()));
}

TEST_OF_STORES(breaking_of_some, admits_waiting_readers) {
  const lease one = client(0).acquire("a", {.ttl = 1h});
  std::vector<std::future<lease>> readers;
  for (std::size_t n = 1; n <= 2; ++n) {
    readers.push_back(in_background([s = client(n)]() mutable { return s.acquire("a", {.shared = true}); }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  EXPECT_TRUE(client(3).break_lock("a", one.fence(), "it hangs"));
  const lease first = test::get(std::move(readers[0]));
  const lease second = test::get(std::move(readers[1]));
  EXPECT_EQ(first.fence(), second.fence());
}

TEST_OF_STORES(breaking_of_some, takes_permits_by_their_owner) {
  semaphore here(client(0), "a", 3, {.ttl = brief()});
  semaphore there(client(1), "a", 3, {.ttl = brief()});
  lease one = here.take(1);
  const lease two = there.take(2);
  std::future<bool> waiting = in_background(
      [s = client(2)] { return semaphore(s, "a", 3, {.ttl = 1h}).try_take(within(test::hang), 2).has_value(); });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  EXPECT_FALSE(client(3).break_lock("a", two.fence(), "no owner is given"));
  EXPECT_TRUE(client(3).break_lock("a", 0, "it hangs", two.owner()));
  EXPECT_TRUE(test::happens(two.lost_token()));
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_TRUE(one.renew(brief()));
  EXPECT_EQ(client(3).inspect("a").broken.value().reason, "it hangs");
  EXPECT_FALSE(client(3).break_lock("a", 0, "twice", two.owner()));
}

TEST_OF_STORES(breaking_of_some, shows_since_when_readers_are_in_and_whether_one_is_asked) {
  lease one = client(0).acquire("a", {.ttl = 1h, .shared = true});
  EXPECT_TRUE(client(2).revoke("a", "make room"));
  const lease two = client(1).acquire("a", {.ttl = 1h, .shared = true});
  state is = client(2).inspect("a");
  ASSERT_EQ(is.holders.size(), 2u);
  EXPECT_TRUE(is_about_now(is.holders.front().since));
  EXPECT_EQ(is.holders.front().since.value() - is.holders.back().since.value(), 0s);
  ASSERT_TRUE(is.asked);
  EXPECT_EQ(is.asked->reason, "make room");
  one.release();
  EXPECT_FALSE(client(2).inspect("a").asked) << "the other holder came later";
}

class breaking_with_lost_replies : public breaking {};
HOLDFAST_FOR(breaking_with_lost_replies, stores_with({power::oversee, power::cut_replies}));

TEST_OF_STORES(breaking_with_lost_replies, returns_true) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  const store breaks = client(1);
  service_->cut_replies(1);
  EXPECT_TRUE(breaks.break_lock("a", held.fence(), "it hangs"));
  service_->heal();
}

class breaking_of_the_stopped : public breaking {};
HOLDFAST_FOR(breaking_of_the_stopped, stores_with({power::oversee, power::stop_clients}));

TEST_OF_STORES(breaking_of_the_stopped, notifies_the_holder_when_it_continues) {
  const store breaks = client(0);
  const lease held = client(1).acquire("a", {.ttl = brief()});
  service_->stop_newest();
  (void)breaks.break_lock("a", held.fence(), "it stands still");  // or its lease had already expired
  EXPECT_TRUE(client(0).try_acquire("a", within(test::hang)).has_value());
  service_->continue_newest();
  EXPECT_TRUE(test::happens(held.lost_token()));
}

}  // namespace
}  // namespace holdfast::conformance
