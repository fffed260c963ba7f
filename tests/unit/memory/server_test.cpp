#include "memory/server.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "runtime/inline_io.hpp"

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;

runtime::task<runtime::wake> look(runtime::io& i, runtime::signal& s) {
  const runtime::wake why = co_await wait(i, s, limit(instant()));
  co_return why;
}

/// Returns whether the server has pushed a grant, once per grant.
bool has_push(party& p) {
  runtime::inline_io here;
  return run_inline(look(here, p.granted())) == runtime::wake::signalled;
}

class memory_server : public testing::Test {
 protected:
  ~memory_server() override {
    for (party& p : parties_) server_.leave(p);
  }
  party& add_party(const std::string& name = "a", milliseconds ttl = 10s, bool queue = true) {
    const storage::owner_id owner{1, parties_.size() + 1};
    return parties_.emplace_back(
        storage::claim_spec{.name = name, .owner = owner, .ttl = ttl, .queue = queue, .label = "label of " + name});
  }
  bool gets_it(party& p, instant at) { return server_.acquire(p, at).ours; }

  const instant now_{1h};
  std::deque<party> parties_;
  server server_;
};

TEST_F(memory_server, grants_a_free_lock_and_names_the_holder_to_others) {
  party &first = add_party(), &second = add_party();
  const auto granted = server_.acquire(first, now_);
  EXPECT_TRUE(granted.ours);
  EXPECT_EQ(granted.expires, now_ + 10s);
  const auto refused = server_.acquire(second, now_);
  EXPECT_FALSE(refused.ours);
  EXPECT_EQ(refused.holder, "label of a");
  EXPECT_EQ(refused.expires, now_ + 10s);
}

TEST_F(memory_server, keeps_names_apart) {
  EXPECT_TRUE(gets_it(add_party("a"), now_));
  EXPECT_TRUE(gets_it(add_party("b"), now_));
  EXPECT_EQ(server_.size(), 2u);
}

TEST_F(memory_server, grants_in_arrival_order_and_notifies_waiters) {
  party &holder = add_party(), &first = add_party(), &second = add_party(), &third = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  for (party* p : {&first, &second, &third}) EXPECT_FALSE(gets_it(*p, now_));
  party* last = &holder;
  for (party* p : {&first, &second, &third}) {
    EXPECT_FALSE(has_push(*p));
    EXPECT_TRUE(server_.release(*last, now_));
    EXPECT_TRUE(has_push(*p));
    EXPECT_TRUE(gets_it(*p, now_));
    last = p;
  }
  EXPECT_TRUE(server_.release(*last, now_));
  EXPECT_EQ(server_.size(), 0u);
}

TEST_F(memory_server, keeps_a_place_in_the_queue_however_often_its_owner_asks) {
  party &holder = add_party(), &first = add_party(), &second = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  for (party* p : {&first, &second, &first, &second, &first}) EXPECT_FALSE(gets_it(*p, now_));
  EXPECT_TRUE(server_.release(holder, now_));
  EXPECT_FALSE(gets_it(second, now_));
  EXPECT_TRUE(gets_it(first, now_));
}

TEST_F(memory_server, does_not_queue_a_claim_that_only_looks) {
  party &holder = add_party(), &looker = add_party("a", 10s, false);
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(gets_it(looker, now_));
  EXPECT_TRUE(server_.release(holder, now_));
  EXPECT_FALSE(has_push(looker));
  EXPECT_EQ(server_.size(), 0u);
}

TEST_F(memory_server, drops_a_holder_whose_ttl_has_expired) {
  party &holder = add_party(), &next = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(gets_it(next, now_ + 10s - 1ns));
  EXPECT_TRUE(gets_it(next, now_ + 10s));
  EXPECT_FALSE(server_.renew(holder, 10s, now_ + 10s));
  EXPECT_FALSE(server_.release(holder, now_ + 10s));
  EXPECT_FALSE(gets_it(holder, now_ + 10s));
}

TEST_F(memory_server, grants_to_the_first_waiter_on_any_poll_after_expiry) {
  party &holder = add_party(), &first = add_party(), &second = add_party(), &third = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(gets_it(first, now_));
  EXPECT_FALSE(gets_it(second, now_));
  EXPECT_FALSE(gets_it(third, now_ + 10s)) << "it overtook the waiters";
  EXPECT_TRUE(has_push(first));
  EXPECT_FALSE(has_push(second));
  EXPECT_TRUE(gets_it(first, now_ + 10s));
}

TEST_F(memory_server, renews_for_its_holder_only_and_never_shortens) {
  party &holder = add_party(), &stranger = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(server_.renew(stranger, 10s, now_));
  EXPECT_TRUE(server_.renew(holder, 1s, now_ + 1s));
  EXPECT_FALSE(gets_it(stranger, now_ + 10s - 1ns)) << "a shorter ttl took something away";
  EXPECT_TRUE(server_.renew(holder, 20s, now_ + 5s));
  EXPECT_FALSE(gets_it(stranger, now_ + 25s - 1ns));
  EXPECT_TRUE(gets_it(stranger, now_ + 25s));
}

TEST_F(memory_server, does_not_renew_a_lock_that_is_not_held) {
  EXPECT_FALSE(server_.renew(add_party(), 10s, now_));
  EXPECT_EQ(server_.size(), 0u) << "a renewal created it";
}

TEST_F(memory_server, releases_for_its_holder_only) {
  party &holder = add_party(), &stranger = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(server_.release(stranger, now_));
  EXPECT_FALSE(gets_it(stranger, now_));
  EXPECT_TRUE(server_.release(holder, now_));
  EXPECT_FALSE(server_.release(holder, now_)) << "twice";
}

TEST_F(memory_server, removes_a_waiter_on_release_or_leave) {
  party &holder = add_party(), &first = add_party(), &second = add_party(), &third = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  for (party* p : {&first, &second, &third}) EXPECT_FALSE(gets_it(*p, now_));
  EXPECT_TRUE(server_.release(first, now_));
  server_.leave(second);
  EXPECT_TRUE(server_.release(holder, now_));
  EXPECT_TRUE(has_push(third));
  EXPECT_FALSE(has_push(first));
  EXPECT_FALSE(has_push(second));
}

TEST_F(memory_server, grants_again_to_its_holder_without_shortening) {
  party& holder = add_party();
  const auto first = server_.acquire(holder, now_);
  EXPECT_TRUE(server_.renew(holder, 1min, now_));
  const auto again = server_.acquire(holder, now_ + 1s);
  EXPECT_TRUE(again.ours);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.expires, now_ + 1min);
}

TEST_F(memory_server, gives_blocks_of_fences_that_never_overlap_and_always_grow) {
  std::uint64_t next = 1;
  for (int k = 0; k < 10; ++k) {
    party& p = add_party("a" + std::to_string(k % 3));
    const auto granted = server_.acquire(p, now_);
    ASSERT_TRUE(granted.ours);
    EXPECT_GE(granted.fence, next);
    next = granted.fence + server::fences_in_a_block;
    EXPECT_TRUE(server_.release(p, now_));
  }
  server_.forget_everything();
  EXPECT_GE(server_.acquire(add_party(), now_).fence, next) << "not even after a loss of state";
}

TEST_F(memory_server, forgets_everything_and_wakes_waiters) {
  party &holder = add_party(), &first = add_party(), &second = add_party();
  ASSERT_TRUE(gets_it(holder, now_));
  EXPECT_FALSE(gets_it(first, now_));
  server_.forget_everything();
  EXPECT_EQ(server_.size(), 0u);
  EXPECT_TRUE(has_push(first));
  EXPECT_FALSE(server_.renew(holder, 10s, now_));
  EXPECT_TRUE(gets_it(second, now_));
  EXPECT_FALSE(gets_it(first, now_));
}

TEST_F(memory_server, loses_one_in_n_notifications_of_a_grant) {
  server_.set_faults({.lose_pushes = 2});
  EXPECT_FALSE(server_.faulty()) << "requests are not touched";
  std::vector<party*> line;
  for (int k = 0; k < 5; ++k) line.push_back(&add_party());
  ASSERT_TRUE(gets_it(*line[0], now_));
  for (std::size_t k = 1; k < 5; ++k) EXPECT_FALSE(gets_it(*line[k], now_));
  int pushes = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_TRUE(server_.release(*line[k], now_));
    pushes += has_push(*line[k + 1]) ? 1 : 0;
  }
  EXPECT_EQ(pushes, 2);
}

TEST(memory_servers, are_shared_by_name_while_a_client_exists) {
  const auto first = server::named("shared-by-name");
  EXPECT_EQ(server::named("shared-by-name"), first);
  EXPECT_NE(server::named("another-name"), first);
  const std::weak_ptr<server> watched = server::named("brief");
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace holdfast::memory
