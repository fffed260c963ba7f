#include <thread>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

/// The ttl is an hour, so that a lost wake-up would hang.
class waiting : public suite {};
HOLDFAST_FOR(waiting, stores_with({}));

std::future<bool> wait_for(store s, std::string name, limit until) {
  return in_background([s = std::move(s), name = std::move(name), until = std::move(until)]() mutable {
    return s.try_acquire(name, until, {.ttl = 1h}).has_value();
  });
}

TEST_OF_STORES(waiting, ends_when_another_client_releases) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::future<bool> got = wait_for(client(1), "a", within(1h));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_OF_STORES(waiting, ends_also_when_the_release_comes_just_as_it_begins) {
  for (int k = 0; k < 50; ++k) {
    lease held = client(0).acquire("a", {.ttl = 1h});
    std::future<bool> got = wait_for(client(1), "a", within(1h));
    for (const auto until = boot_clock::now() + k * 20us; boot_clock::now() < until;) {
    }
    EXPECT_EQ(held.release(), released::yes);
    EXPECT_TRUE(test::get(std::move(got)));
  }
}

TEST_OF_STORES(waiting, ends_when_another_thread_of_the_same_client_releases) {
  lease held = client().acquire("a", {.ttl = 1h});
  std::future<bool> got = wait_for(client(), "a", within(1h));
  EXPECT_TRUE(seen().comes(event::kind::waiting));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_OF_STORES(waiting, ends_when_the_holders_client_goes_with_its_lease) {
  std::optional<store> holder = service_->open({});
  std::optional<lease> held = holder->acquire("a", {.ttl = 1h});
  std::future<bool> got = wait_for(client(1), "a", within(1h));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  holder.reset();
  held.reset();
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_OF_STORES(waiting, of_one_name_is_not_ended_by_a_release_of_another) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  lease other = client(0).acquire("b", {.ttl = 1h});
  std::stop_source enough;
  std::future<bool> got = wait_for(client(1), "a", until(enough.get_token()));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(other.release(), released::yes);
  EXPECT_NE(got.wait_for(50ms), std::future_status::ready);
  enough.request_stop();
  EXPECT_FALSE(test::get(std::move(got)));
}

TEST_OF_STORES(waiting, ends_at_its_limit_and_leaves_no_trace) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  store waiter = client(1);
  const auto end = boot_clock::now() + 20ms;
  std::error_code why;  // such a short limit may end before the store can answer
  EXPECT_FALSE(waiter.try_acquire("a", limit(end), {}, why));
  EXPECT_GE(boot_clock::now(), end);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(client(2).try_acquire("a", within(test::hang))) << "the lock was granted to a client that had left";
}

TEST_OF_STORES(waiting, ends_when_it_is_asked_to_stop_and_leaves_no_trace) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::stop_source first, second;
  std::future<bool> at_the_store = wait_for(client(1), "a", until(first.get_token()));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> in_line = wait_for(client(1), "a", until(second.get_token()));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting, 2));
  second.request_stop();
  EXPECT_FALSE(test::get(std::move(in_line)));
  first.request_stop();
  EXPECT_FALSE(test::get(std::move(at_the_store)));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(client(2).try_acquire("a", within(test::hang))) << "the lock was granted to a client that had left";
}

TEST_OF_STORES(waiting, does_not_begin_for_a_caller_that_was_asked_to_stop_before) {
  std::stop_source stop;
  stop.request_stop();
  const lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_FALSE(client(1).try_acquire("a", until(stop.get_token())));
}

TEST_OF_STORES(waiting, of_those_behind_goes_on_when_the_first_gives_up) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::stop_source stop;
  std::future<bool> first = wait_for(client(1), "a", until(stop.get_token()));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> second = wait_for(client(1), "a", within(1h));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting, 2));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(first)));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(second)));
}

TEST_OF_STORES(waiting, leaves_no_trace_when_its_client_goes) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::counting_semaphore<> ended(0);
  client(1).async_try_acquire("a", within(1h), {.ttl = 1h}, [&](std::error_code why, const std::optional<lease>& got) {
    EXPECT_EQ(why, errc::closed);
    EXPECT_FALSE(got);
    ended.release();
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  client(1).close();
  EXPECT_TRUE(test::happens(ended));
  drop(1);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(client(2).try_acquire("a", within(test::hang))) << "the lock was granted to a client that had left";
}

TEST_OF_STORES(waiting, is_not_what_one_look_does) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  EXPECT_FALSE(client(1).try_acquire("a"));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(client(2).try_acquire("a")) << "a poll without waiting left an entry in the queue";
}

TEST_OF_STORES(waiting, is_reported_with_the_label_of_the_holder) {
  lease held = client(0).acquire("a", {.ttl = 1h, .label = "the nightly build"});
  std::future<bool> got = wait_for(client(1), "a", within(1h));
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(seen(1).events(event::kind::waiting)[0].text, "the nightly build");
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(got)));
}

}  // namespace
}  // namespace holdfast::conformance
