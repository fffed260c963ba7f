#include <algorithm>
#include <atomic>
#include <mutex>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class several : public suite {};
HOLDFAST_FOR(several, stores_with({}));

TEST_OF_STORES(several, are_held_by_one_lease) {
  lease all = client(0).acquire({"b", "a", "c"});
  EXPECT_TRUE(all.held());
  EXPECT_EQ(all.name(), "b");
  for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(client(1).try_acquire(name)) << name;
  EXPECT_EQ(all.release(), released::yes);
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(client(1).try_acquire(name, within(test::hang))) << name;
}

TEST_OF_STORES(several, have_a_fence_each) {
  const std::uint64_t before = client(0).acquire("a").fence();
  const lease all = client(0).acquire({"b", "a"});
  EXPECT_GT(all.fence("a"), before);
  EXPECT_GT(all.fence("b"), 0u);
  EXPECT_EQ(all.fence(), all.fence("b"));
  EXPECT_EQ(all.fence("c"), 0u);
}

TEST_OF_STORES(several, may_be_given_twice_and_as_strings) {
  const std::vector<std::string> names{"a", "b", "a"};
  lease all = client(0).acquire(names);
  EXPECT_EQ(all.release(), released::yes);
  lease one = client(0).acquire({"a", "a"});
  EXPECT_FALSE(client(1).try_acquire("a"));
  EXPECT_EQ(one.release(), released::yes);
}

TEST_OF_STORES(several, are_all_or_nothing_in_one_look) {
  lease one = client(0).acquire("b");
  EXPECT_FALSE(client(1).try_acquire({"a", "b", "c"}, within(0s)));
  for (const char* name : {"a", "c"}) EXPECT_TRUE(client(2).try_acquire(name, within(test::hang))) << name;
  EXPECT_EQ(one.release(), released::yes);
  EXPECT_TRUE(client(1).try_acquire({"a", "b", "c"}, within(test::hang)));
}

TEST_OF_STORES(several, leave_nothing_behind_when_the_limit_ends) {
  const lease one = client(0).acquire("b");
  EXPECT_FALSE(client(1).try_acquire({"a", "b", "c"}, within(200ms)));
  for (const char* name : {"a", "c"}) EXPECT_TRUE(client(2).try_acquire(name, within(test::hang))) << name;
}

TEST_OF_STORES(several, come_when_the_last_of_them_is_free) {
  lease b = client(0).acquire("b"), c = client(0).acquire("c");
  auto all = in_background([s = client(1)]() mutable { return s.acquire({"c", "b", "a"}); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(b.release(), released::yes);
  EXPECT_EQ(c.release(), released::yes);
  lease got = all.get();
  EXPECT_TRUE(got.held());
  EXPECT_EQ(got.release(), released::yes);
}

// The wait is longer than a ttl: the locks that are held already must be renewed.
TEST_OF_STORES(several, keep_what_they_have_while_they_wait_for_more) {
  // Longer than a busy machine pauses: a lease that is not renewed in time is rightly lost.
  static constexpr auto ttl = 1s;
  std::future<lease> all;
  lease c = client(0).acquire("c");  // goes before the future, which waits for it
  all = in_background([s = client(1)]() mutable { return s.acquire({"a", "b", "c"}, {.ttl = ttl}); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_FALSE(client(2).try_acquire("a", within(2 * ttl)));
  EXPECT_EQ(c.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(all)).held());
}

TEST_OF_STORES(several, never_wait_for_each_other) {
  int counter = 0;  // plain: the locks are all that guards it
  std::vector<store> clients;
  for (std::size_t n = 0; n < 3; ++n) clients.push_back(client(n));
  {
    const test::threads all(6, [&](int me) {
      std::vector<std::string> names{"a", "b", "c"};
      for (int k = 0; k < 20; ++k) {
        std::rotate(names.begin(), names.begin() + me % 3, names.end());
        if (me == 5) names.resize(2, "b");
        const lease held = clients[static_cast<std::size_t>(me) % clients.size()].acquire(names);
        ++counter;
      }
    });
  }
  EXPECT_EQ(counter, 120);
}

class several_readers : public several {};
HOLDFAST_FOR(several_readers, stores_with({power::share}));

TEST_OF_STORES(several_readers, may_be_read_together) {
  const lease one = client(0).acquire({"a", "b"}, {.shared = true});
  const lease other = client(1).acquire({"b", "a"}, {.shared = true});
  EXPECT_TRUE(one.held() && other.held());
  EXPECT_FALSE(client(2).try_acquire("a"));
}

TEST_OF_STORES(several, refuse_what_makes_no_sense) {
  const auto code = [](auto call) {
    try {
      (void)call();
    } catch (const lock_error& e) {
      return e.code();
    }
    return std::error_code();
  };
  EXPECT_EQ(code([&] { return client().acquire(std::initializer_list<std::string_view>{}); }), errc::bad_name);
  EXPECT_EQ(code([&] { return client().acquire({"a", ""}); }), errc::bad_name);
  EXPECT_EQ(code([&] { return client().acquire({"a", "b"}, {.ttl = 0ms}); }), errc::bad_option);
  EXPECT_EQ(code([&] { return client().acquire({"a", "b"}, {.fair = false}); }), errc::bad_option);
  std::vector<std::string> many;
  for (int n = 0; n < 257; ++n) many.push_back(std::to_string(n));
  EXPECT_EQ(code([&] { return client().acquire(many); }), errc::bad_name);
  many.pop_back();
  EXPECT_TRUE(client().acquire(many).held());
}

TEST_OF_STORES(several, work_with_scoped_lock_too) {
  mutex a(client(0), "a"), b(client(0), "b");
  {
    const std::scoped_lock both(a, b);
    EXPECT_FALSE(client(1).try_acquire({"a", "b"}, within(0s)));
  }
  EXPECT_TRUE(client(1).try_acquire({"a", "b"}, within(test::hang)));
}

class several_lost : public suite {};
HOLDFAST_FOR(several_lost, stores_with({power::lose_state}));

TEST_OF_STORES(several_lost, are_lost_together) {
  const lease all = client(0).acquire({"a", "b"}, {.ttl = brief()});
  service_->lose_state();
  EXPECT_TRUE(test::happens(all.lost_token()));
  EXPECT_FALSE(all.held());
}

class several_cut : public suite {};
HOLDFAST_FOR(several_cut, stores_with({power::cut_replies}));

TEST_OF_STORES(several_cut, are_adopted_when_an_answer_was_lost) {
  service_->cut_replies(1);
  lease all = client(0).acquire({"a", "b", "c"});
  service_->heal();
  EXPECT_TRUE(all.held());
  EXPECT_NE(all.release(), released::lost);
}

class several_die : public suite {};
HOLDFAST_FOR(several_die, stores_with({power::end_clients}));

TEST_OF_STORES(several_die, and_all_of_them_are_free_again) {
  (void)client(0);
  const lease all = client(1).acquire({"a", "b"}, {.ttl = brief()});
  service_->kill_newest();
  EXPECT_TRUE(client(0).try_acquire({"b", "a"}, within(test::hang)));
}

TEST_OF_STORES(several_die, while_they_wait_and_free_what_they_held) {
  const lease c = client(0).acquire("c");
  auto all = in_background([s = client(1), ttl = brief()]() mutable {
    std::error_code why;
    try {
      (void)s.acquire({"a", "b", "c"}, {.ttl = ttl});
    } catch (const lock_error& e) {
      why = e.code();
    }
    return why;
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  service_->kill_newest();
  EXPECT_TRUE(client(0).try_acquire({"a", "b"}, within(test::hang)));
  EXPECT_TRUE(all.get());
}

}  // namespace
}  // namespace holdfast::conformance
