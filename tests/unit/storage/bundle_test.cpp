#include "storage/bundle.hpp"

#include <gtest/gtest.h>

#include "memory/client.hpp"
#include "support/manual_tasks.hpp"
#include "support/watched_store.hpp"

namespace holdfast::storage {
namespace {

using namespace std::chrono_literals;

class a_bundle : public testing::Test {
 protected:
  claim_spec spec(const std::string& name, std::uint64_t owner, bool queue = true) {
    return {.name = name, .owner = {1, owner}, .ttl = 10s, .queue = queue};
  }
  bundle of_both(bool queue = true) { return bundle(client_, {spec("b", 12, queue), spec("a", 11, queue)}); }
  std::unique_ptr<claim> stranger(const std::string& name, bool queue = true) {
    return client_.open(spec(name, ++strangers_, queue));
  }
  /// Returns true if no other claim holds the name or waits for it.
  bool is_free(const std::string& name) {
    const auto other = stranger(name, false);
    const bool mine = poll(*other).is_yes();
    if (mine) {
      EXPECT_TRUE(release(*other).is_yes());
    }
    return mine;
  }
  /// As if the store had forgotten this one alone.
  void lose(const std::string& name, std::uint64_t owner) {
    const auto same = client_.open(spec(name, owner));
    EXPECT_TRUE(release(*same).is_yes());
  }
  answer<grant> poll(claim& c) { return tasks_.end_of(c.poll(io_, tasks_.in(1s))); }
  answer<instant> renew(claim& c) { return tasks_.end_of(c.renew(io_, 10s, tasks_.in(1s))); }
  answer<done> release(claim& c) { return tasks_.end_of(c.release(io_, tasks_.in(1s))); }
  std::string owner_of(const std::string& name) {
    answer<state> seen = tasks_.end_of(client_.admin().inspect(io_, name, tasks_.in(1s)));
    return seen.value().holders.empty() ? "" : seen.value().holders.front().owner;
  }

  test::manual_tasks tasks_;
  test::manual_io& io_ = tasks_.io;
  std::shared_ptr<memory::server> server_ = std::make_shared<memory::server>();

 private:
  memory::client client_{server_};
  std::uint64_t strangers_ = 100;
};

TEST_F(a_bundle, has_a_fence_for_each_name_and_for_each_owner) {
  bundle both = of_both();
  answer<grant> got = poll(both);
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(got.value().fence, both.fence_of("b")) << "that of the first as given";
  EXPECT_NE(both.fence_of("a"), both.fence_of("b"));
  EXPECT_EQ(both.fence_of(owner_id{1, 11}), both.fence_of("a"));
  EXPECT_EQ(both.fence_of("c"), 0u);
  EXPECT_EQ(both.fence_of(owner_id{1, 13}), 0u);
  EXPECT_TRUE(release(both).is_yes());
}

TEST_F(a_bundle, takes_a_later_name_only_when_it_has_the_earlier_ones) {
  const auto first = stranger("a");
  ASSERT_TRUE(poll(*first).is_yes());
  bundle both = of_both();
  EXPECT_TRUE(poll(both).is_no());
  EXPECT_TRUE(is_free("b"));
  ASSERT_TRUE(release(*first).is_yes());
  EXPECT_TRUE(poll(both).is_yes());
  EXPECT_TRUE(release(both).is_yes());
}

TEST_F(a_bundle, keeps_what_it_has_while_it_waits_for_more) {
  const auto last = stranger("b");
  ASSERT_TRUE(poll(*last).is_yes());
  bundle both = of_both();
  EXPECT_TRUE(poll(both).is_no());
  for (int n = 0; n < 5; ++n) {
    io_.advance(5s);
    ASSERT_TRUE(renew(*last).is_yes());
    EXPECT_TRUE(poll(both).is_no());
    EXPECT_FALSE(is_free("a"));
  }
  ASSERT_TRUE(release(*last).is_yes());
  answer<grant> got = poll(both);
  ASSERT_TRUE(got.is_yes());
  EXPECT_GE(got.value().deadline, io_.now() + 5s) << "there is time for the next renewal";
  EXPECT_TRUE(release(both).is_yes());
}

TEST_F(a_bundle, leaves_nothing_behind_after_one_look) {
  const auto last = stranger("b");
  ASSERT_TRUE(poll(*last).is_yes());
  bundle both = of_both(false);
  EXPECT_TRUE(poll(both).is_no());
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(release(*last).is_yes());
}

TEST_F(a_bundle, starts_over_with_new_ids_when_it_lost_one_while_it_waited) {
  const auto last = stranger("b");
  ASSERT_TRUE(poll(*last).is_yes());
  bundle both = of_both();
  EXPECT_TRUE(poll(both).is_no());
  const std::string before = owner_of("a");
  lose("a", 11);
  const auto thief = stranger("a");
  ASSERT_TRUE(poll(*thief).is_yes());
  io_.advance(5s);
  ASSERT_TRUE(renew(*last).is_yes());
  ASSERT_TRUE(renew(*thief).is_yes());
  EXPECT_TRUE(poll(both).is_no());
  ASSERT_TRUE(release(*last).is_yes());
  EXPECT_TRUE(is_free("b")) << "it is back at the first name";
  ASSERT_TRUE(release(*thief).is_yes());
  ASSERT_TRUE(poll(both).is_yes());
  EXPECT_NE(owner_of("a"), before) << "what comes late must not be about the new ones";
  EXPECT_TRUE(release(both).is_yes());
}

TEST_F(a_bundle, keeps_other_parts_after_a_loss_until_released) {
  bundle both = of_both();
  ASSERT_TRUE(poll(both).is_yes());
  lose("b", 12);
  EXPECT_TRUE(renew(both).is_no());
  EXPECT_FALSE(is_free("a")) << "the holder may not know yet";
  EXPECT_TRUE(release(both).is_no());
  EXPECT_TRUE(is_free("a"));
}

TEST_F(a_bundle, is_released_whole_after_a_lost_first_try) {
  bundle both = of_both();
  ASSERT_TRUE(poll(both).is_yes());
  server_->set_faults({.lose_replies = 1});
  EXPECT_TRUE(release(both).is_unknown());
  server_->set_faults({});
  EXPECT_FALSE(release(both).is_unknown());
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(a_bundle, says_which_of_the_names_got_no_answer) {
  bundle both = of_both();
  server_->set_faults({.lose_requests = 1});
  answer<grant> got = poll(both);
  ASSERT_TRUE(got.is_unknown());
  EXPECT_NE(got.why().text.find("'a'"), std::string::npos) << got.why().text;
  server_->set_faults({});
  EXPECT_FALSE(release(both).is_unknown());
}

TEST_F(a_bundle, lies_on_a_shard_if_all_its_parts_do) {
  test::watched_store store(std::make_unique<memory::client>(server_));
  const bundle both(store, {spec("b", 12), spec("a", 11)});
  store.spread([](const std::string&) { return shard{3}; });
  EXPECT_EQ(both.lies_on(), 3u);
  store.spread([](const std::string& name) { return name == "a" ? shard{3} : shard{4}; });
  EXPECT_EQ(both.lies_on(), no_shard);
}

}  // namespace
}  // namespace holdfast::storage
