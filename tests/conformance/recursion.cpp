#include <mutex>

#include "conformance/suite.hpp"
#include "support/eventually.hpp"
#include "support/started.hpp"

namespace holdfast::conformance {
namespace {

class recursion : public suite {};
HOLDFAST_FOR(recursion, stores_with({}));

TEST_OF_STORES(recursion, is_free_when_it_was_unlocked_as_often_as_it_was_locked) {
  recursive_mutex m(client(0), "a", {.ttl = 1h});
  {
    const std::scoped_lock outer(m);
    const std::uint64_t fence = m.current().fence();
    {
      const std::scoped_lock inner(m);
      EXPECT_TRUE(m.try_lock());
      EXPECT_TRUE(m.try_lock_for(1s));
      EXPECT_EQ(m.current().fence(), fence);  // the same holding
      m.unlock();
      m.unlock();
    }
    EXPECT_FALSE(is_free("a"));
  }
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(recursion, is_bound_to_the_thread) {
  recursive_mutex m(client(0), "a", {.ttl = 1h});
  m.lock();
  test::get(in_background([&] {
    EXPECT_FALSE(m.try_lock());
    m.unlock();  // not ours
    EXPECT_THROW((void)m.current(), lock_error);
  }));
  EXPECT_TRUE(seen(0).comes(event::kind::warning));
  EXPECT_TRUE(m.current().held());
  EXPECT_FALSE(is_free("a"));
  m.unlock();
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(recursion, lets_another_thread_in_when_the_last_level_is_left) {
  recursive_mutex m(client(0), "a", {.ttl = 1h});
  m.lock();
  m.lock();
  std::future<bool> next = in_background([&] {
    const bool in = m.try_lock_for(test::hang);
    if (in) m.unlock();
    return in;
  });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  m.unlock();
  EXPECT_FALSE(test::is_ready(next));
  m.unlock();
  EXPECT_TRUE(test::get(std::move(next)));
}

TEST_OF_STORES(recursion, is_refused_when_the_lock_was_lost_meanwhile) {
  recursive_mutex m(client(0), "a", {.ttl = brief(), .renew = false});
  m.lock();
  EXPECT_TRUE(test::eventually([&] { return !m.current().held(); }));
  try {
    m.lock();
    ADD_FAILURE() << "the outer section is not protected any more";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::lost);
  }
  m.unlock();
  EXPECT_TRUE(m.try_lock_for(test::hang));
  m.unlock();
}

}  // namespace
}  // namespace holdfast::conformance
