#include <algorithm>
#include <map>

#include "conformance/odd_names.hpp"
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class lists : public suite {
 protected:
  /// All pages, each name once.
  [[nodiscard]] std::map<std::string, state> all(std::string_view prefix = {}) {
    std::map<std::string, state> names;
    std::string after;
    do {
      listing page = client(9).list(prefix, after);
      for (listing::entry& each : page.names) names.insert_or_assign(std::move(each.name), std::move(each.now));
      after = std::move(page.next);
    } while (!after.empty());
    return names;
  }
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix = {}) {
    std::vector<std::string> only;
    for (const auto& [name, is] : all(prefix)) only.push_back(name);
    return only;
  }
};
HOLDFAST_FOR(lists, stores_with({power::oversee}));

TEST_OF_STORES(lists, nothing_without_locks) {
  const listing page = client().list();
  EXPECT_TRUE(page.names.empty());
  EXPECT_TRUE(page.next.empty());
}

TEST_OF_STORES(lists, what_is_held_and_not_what_was) {
  const lease one = client(0).acquire("one", {.ttl = 1h, .label = "the nightly report"});
  client(0).acquire("two").release();
  const lease three = client(1).acquire("three", {.ttl = 1h});
  const std::map<std::string, state> now = all();
  ASSERT_EQ(names(), (std::vector<std::string>{"one", "three"}));
  const state& is = now.at("one");
  EXPECT_EQ(is.holding, 1u);
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holders.front().owner, one.owner());
  EXPECT_EQ(is.holders.front().label, "the nightly report");
  EXPECT_EQ(is.holders.front().fence, one.fence());
  EXPECT_NE(is.holders.front().pid, 0);
}

TEST_OF_STORES(lists, page_by_page) {
  std::vector<lease> held;
  std::vector<std::string> wanted;
  for (int n = 1000; n < 1450; ++n) {
    wanted.push_back("job " + std::to_string(n));
    held.push_back(client(n % 2 == 0 ? 0 : 1).acquire(wanted.back(), {.ttl = 1h}));
  }
  EXPECT_FALSE(client(9).list().next.empty()) << "450 are more than a page";
  EXPECT_EQ(names(), wanted);
  EXPECT_EQ(names("job 14"), std::vector<std::string>(wanted.end() - 50, wanted.end()));
}

TEST_OF_STORES(lists, what_begins_so_though_it_looks_like_a_pattern) {
  std::vector<lease> held;
  for (const char* name : {"a*b", "a*bc", "aXb", "a?b", "a[x]b", "axb", "a\\b", "a", "b"}) {
    held.push_back(client(0).acquire(name, {.ttl = 1h}));
  }
  using these = std::vector<std::string>;
  EXPECT_EQ(names("a*b"), (these{"a*b", "a*bc"}));
  EXPECT_EQ(names("a?"), (these{"a?b"}));
  EXPECT_EQ(names("a[x]"), (these{"a[x]b"}));
  EXPECT_EQ(names("a\\"), (these{"a\\b"}));
  EXPECT_EQ(names("*"), these{});
  EXPECT_EQ(names("b"), (these{"b"}));
  EXPECT_EQ(names().size(), 9u);
}

TEST_OF_STORES(lists, odd_names_as_they_are) {
  std::vector<lease> held;
  for (const std::string& name : odd_names()) held.push_back(client(0).acquire(name, {.ttl = 1h}));
  std::vector<std::string> wanted = odd_names();
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(names(), wanted);
  for (const std::string& name : odd_names()) {
    const std::vector<std::string> found = names(name);
    EXPECT_NE(std::find(found.begin(), found.end(), name), found.end()) << testing::PrintToString(name);
  }
}

TEST_OF_STORES(lists, how_many_wait_and_not_who) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::vector<std::future<bool>> waiting;
  for (std::size_t n = 1; n <= 3; ++n) {
    waiting.push_back(
        in_background([s = client(n)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  const state is = all().at("a");
  EXPECT_EQ(is.waiting, 3u);
  EXPECT_TRUE(is.waiters.empty());
  held.release();
  for (auto& each : waiting) EXPECT_TRUE(test::get(std::move(each)));
}

TEST_OF_STORES(lists, refuse_an_unknown_cursor_or_continue_from_there) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  try {
    (void)client(1).list("", "an unknown cursor");
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
  }
}

class lists_of_some : public lists {};
HOLDFAST_FOR(lists_of_some, stores_with({power::oversee, power::share}));

TEST_OF_STORES(lists_of_some, a_few_of_many_readers_and_their_number) {
  std::vector<lease> readers;
  for (std::size_t n = 0; n < 6; ++n) readers.push_back(client(n % 2).acquire("a", {.ttl = 1h, .shared = true}));
  const state is = all().at("a");
  EXPECT_EQ(is.holding, 6u);
  ASSERT_EQ(is.holders.size(), listing::most_holders);
  for (const state::holder& who : is.holders) {
    EXPECT_TRUE(who.reads);
    EXPECT_EQ(who.fence, readers.front().fence());
  }
}

TEST_OF_STORES(lists_of_some, permits) {
  const lease two = semaphore(client(0), "a", 10, {.ttl = 1h}).take(2);
  const state is = all().at("a");
  EXPECT_EQ(is.permits, 10u);
  EXPECT_EQ(is.holding, 1u);
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holders.front().permits, 2u);
  EXPECT_EQ(is.holders.front().owner, two.owner());
}

class lists_in_vain : public suite {
 protected:
  ~lists_in_vain() override { service_->heal(); }
};
HOLDFAST_FOR(lists_in_vain, stores_with({power::oversee, power::fall_silent}));

TEST_OF_STORES(lists_in_vain, where_the_store_gives_no_answer) {
  const store impatient = service_->open({.patience = 50ms});
  service_->fall_silent();
  try {
    (void)impatient.list();
    FAIL() << "no answer is not an empty store";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unreachable);
  }
}

class lists_of_the_dead : public lists {};
HOLDFAST_FOR(lists_of_the_dead, stores_with({power::oversee, power::end_clients}, guarantees::exclusion::kernel));

TEST_OF_STORES(lists_of_the_dead, are_empty) {
  const store looks = client(9);
  const lease held = client(0).acquire("a");
  service_->kill_newest();
  EXPECT_TRUE(all().empty());
  EXPECT_TRUE(is_free("a"));
}

}  // namespace
}  // namespace holdfast::conformance
