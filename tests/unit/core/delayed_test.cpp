#include "core/delayed.hpp"

#include <gtest/gtest.h>

#include "memory/client.hpp"
#include "support/manual_tasks.hpp"
#include "support/watched_store.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using storage::answer;
using storage::grant;
using storage::instant;

class delayed_claim : public testing::Test {
 protected:
  static constexpr storage::milliseconds ttl = 10s, delay = 5s;
  std::unique_ptr<storage::claim> opened(std::uint64_t owner) {
    return store_.open({.name = "a", .owner = {1, owner}, .ttl = ttl + delay, .delay = delay});
  }
  bool is_free() {
    const auto other = store_.open({.name = "a", .owner = {1, ++others_}, .ttl = 1ms, .queue = false});
    const bool mine = poll(*other).is_yes();
    if (mine) {
      EXPECT_TRUE(tasks_.end_of(other->release(io_, tasks_.in(1s))).is_yes());
    }
    return mine;
  }
  answer<grant> poll(storage::claim& c) { return tasks_.end_of(c.poll(io_, tasks_.in(1s))); }

  test::manual_tasks tasks_;
  test::manual_io& io_ = tasks_.io;
  std::shared_ptr<memory::server> server_ = std::make_shared<memory::server>();
  test::watched_store store_{std::make_unique<memory::client>(server_)};
  delayed mine_{opened(1), ttl, delay};

 private:
  std::uint64_t others_ = 100;
};

TEST_F(delayed_claim, ends_for_its_holder_before_the_store_frees_the_lock) {
  answer<grant> got = poll(mine_);
  ASSERT_TRUE(got.is_yes());
  const instant ends = storage::deadline_after(io_.now(), ttl + delay) - delay;
  EXPECT_EQ(got.value().deadline, ends);
  io_.advance(ttl + delay - 1ms);
  EXPECT_FALSE(is_free()) << "lost for longer than the ttl, but not for the delay";
  io_.advance(1ms);
  EXPECT_TRUE(is_free());
}

TEST_F(delayed_claim, is_renewed_for_ttl_and_delay) {
  ASSERT_TRUE(poll(mine_).is_yes());
  io_.advance(3s);
  answer<instant> kept = tasks_.end_of(mine_.renew(io_, ttl, tasks_.in(1s)));
  ASSERT_TRUE(kept.is_yes());
  EXPECT_EQ(kept.value(), storage::deadline_after(io_.now(), ttl + delay) - delay);
  EXPECT_EQ(store_.renewed_for(), std::vector<storage::milliseconds>{ttl + delay});
}

TEST_F(delayed_claim, is_free_at_once_when_it_is_released) {
  ASSERT_TRUE(poll(mine_).is_yes());
  ASSERT_TRUE(tasks_.end_of(mine_.release(io_, tasks_.in(1s))).is_yes());
  EXPECT_TRUE(is_free());
}

TEST_F(delayed_claim, extends_a_short_grant_first) {
  store_.grant_for(4s);  // less than the delay: nothing of it would be left
  answer<grant> got = poll(mine_);
  ASSERT_TRUE(got.is_yes());
  EXPECT_GT(got.value().deadline, io_.now() + ttl / 2);
}

TEST_F(delayed_claim, is_unknown_when_a_short_grant_cannot_be_extended) {
  store_.grant_for(4s);
  store_.cut(test::watched_store::call::renew);
  EXPECT_TRUE(poll(mine_).is_unknown());
}

}  // namespace
}  // namespace holdfast::core
