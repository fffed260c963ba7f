#include <shared_mutex>

#include "conformance/suite.hpp"
#include "support/eventually.hpp"
#include "support/started.hpp"

namespace holdfast::conformance {
namespace {

class sharing : public suite {
 protected:
  /// The ttl is too long to hide a release that did not happen.
  static constexpr lock_options patient{.ttl = 1h};
};
HOLDFAST_FOR(sharing, stores_with({power::share}));

TEST_OF_STORES(sharing, admits_readers_of_several_clients_together_a_writer_alone) {
  shared_mutex one(client(0), "a", patient), two(client(1), "a", patient), three(client(2), "a", patient);
  one.lock_shared();
  EXPECT_TRUE(two.try_lock_shared());
  EXPECT_FALSE(three.try_lock());
  one.unlock_shared();
  EXPECT_FALSE(three.try_lock());
  two.unlock_shared();
  EXPECT_TRUE(three.try_lock());
  EXPECT_FALSE(one.try_lock_shared());
  EXPECT_FALSE(two.try_lock());
  three.unlock();
  EXPECT_TRUE(one.try_lock_shared());
  one.unlock_shared();
}

TEST_OF_STORES(sharing, is_one_lock_with_the_mutex_of_its_name) {
  shared_mutex reading(client(0), "a", patient);
  mutex writing(client(1), "a", patient);
  {
    const std::shared_lock in(reading);
    EXPECT_FALSE(writing.try_lock());
    EXPECT_FALSE(client(2).try_acquire("a", patient));
  }
  EXPECT_TRUE(writing.try_lock());
  EXPECT_FALSE(reading.try_lock_shared());
  writing.unlock();
}

TEST_OF_STORES(sharing, gives_concurrent_readers_one_fence_and_a_writer_a_higher_one) {
  shared_mutex one(client(0), "a", patient), two(client(1), "a", patient);
  one.lock_shared();
  two.lock_shared();
  const std::uint64_t first = one.current().fence();
  EXPECT_EQ(two.current().fence(), first);
  one.unlock_shared();
  one.lock_shared();  // joins the admitted readers
  EXPECT_EQ(one.current().fence(), first);
  one.unlock_shared();
  two.unlock_shared();
  one.lock();
  const std::uint64_t second = one.current().fence();
  EXPECT_GT(second, first);
  one.unlock();
  two.lock_shared();
  EXPECT_GT(two.current().fence(), second);
  two.unlock_shared();
}

TEST_OF_STORES(sharing, gives_leases_to_readers_too) {
  const lock_options reader{.ttl = 1h, .shared = true};
  lease one = client(0).acquire("a", reader);
  std::optional<lease> two = client(0).try_acquire("a", reader);  // no thread is bound to them
  ASSERT_TRUE(two);
  EXPECT_EQ(one.fence(), two->fence());
  EXPECT_FALSE(client(1).try_acquire("a"));
  EXPECT_EQ(one.release(), released::yes);
  EXPECT_EQ(two->release(), released::yes);
  EXPECT_TRUE(client(1).try_acquire("a"));
  EXPECT_THROW(mutex(client(0), "a", reader), lock_error);
  EXPECT_THROW(semaphore(client(0), "a", 2, reader), lock_error);
}

TEST_OF_STORES(sharing, is_in_order_of_arrival_so_that_neither_side_starves) {
  shared_mutex first(client(0), "a", patient);
  first.lock_shared();
  std::vector<std::string> order;
  std::mutex guard;
  const auto note = [&](const std::string& who) {
    const std::lock_guard lock(guard);
    order.push_back(who);
  };
  std::future<void> writer = in_background([&, s = client(1)] {
    shared_mutex mine(s, "a", patient);
    const std::unique_lock in(mine);
    note("writer");
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::vector<std::future<void>> readers;
  for (std::size_t n = 2; n < 5; ++n) {  // the lock is shared, but the writer came before
    readers.push_back(in_background([&, s = client(n)] {
      shared_mutex mine(s, "a", patient);
      const std::shared_lock in(mine);
      note("reader");
    }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  shared_mutex late(client(5), "a", patient);
  EXPECT_FALSE(late.try_lock_shared());
  first.unlock_shared();
  test::get(std::move(writer));
  for (auto& r : readers) test::get(std::move(r));
  EXPECT_EQ(order, (std::vector<std::string>{"writer", "reader", "reader", "reader"}));
}

TEST_OF_STORES(sharing, admits_readers_that_wait_together_at_once) {
  constexpr std::size_t many = 4;
  shared_mutex writing(client(0), "a", patient);
  writing.lock();
  std::vector<std::future<void>> readers;
  std::counting_semaphore<> inside(0), leave(0);
  for (std::size_t n = 1; n <= many; ++n) {
    readers.push_back(in_background([&, s = client(n)] {
      shared_mutex mine(s, "a", patient);
      const std::shared_lock in(mine);
      inside.release();
      EXPECT_TRUE(test::happens(leave));
    }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  writing.unlock();
  for (std::size_t n = 1; n <= many; ++n) EXPECT_TRUE(test::happens(inside));  // all, before one leaves
  leave.release(static_cast<std::ptrdiff_t>(many));
  for (auto& r : readers) test::get(std::move(r));
}

TEST_OF_STORES(sharing, wakes_readers_behind_a_writer_that_gave_up) {
  shared_mutex first(client(0), "a", patient);
  first.lock_shared();
  std::stop_source stop;
  std::future<bool> writer = in_background([s = client(1), t = stop.get_token()] {
    shared_mutex mine(s, "a", patient);
    return mine.lock(t);
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> reader = in_background([s = client(2)] {
    shared_mutex mine(s, "a", patient);
    return mine.try_lock_shared_for(test::hang);
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(writer)));
  EXPECT_TRUE(test::get(std::move(reader)));
  first.unlock_shared();
}

TEST_OF_STORES(sharing, keeps_threads_of_one_client_apart_as_it_does_clients) {
  shared_mutex both(client(0), "a", patient);
  both.lock();
  std::future<bool> reader = in_background([&] {
    const bool in = both.try_lock_shared_for(test::hang);
    if (in) both.unlock_shared();
    return in;
  });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  both.unlock();
  EXPECT_TRUE(test::get(std::move(reader)));
}

TEST_OF_STORES(sharing, refuses_every_relock_on_one_thread_without_a_request) {
  shared_mutex m(client(0), "a", patient);
  const auto refused = [](auto lock) {
    try {
      lock();
      return false;
    } catch (const lock_error& e) {
      return e.code() == errc::would_deadlock;
    }
  };
  m.lock_shared();
  EXPECT_TRUE(refused([&] { m.lock(); }));  // an upgrade
  EXPECT_TRUE(refused([&] { m.lock_shared(); }));
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock_shared();
  m.lock();
  EXPECT_TRUE(refused([&] { m.lock_shared(); }));
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock();
}

TEST_OF_STORES(sharing, makes_a_reader_of_a_writer_without_a_gap) {
  shared_mutex m(client(0), "a", patient);
  m.lock();
  const std::uint64_t fence = m.current().fence();
  std::future<bool> writer = in_background([s = client(1)] {
    shared_mutex mine(s, "a", patient);
    return mine.try_lock_for(test::hang);
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  m.unlock_and_lock_shared();
  EXPECT_TRUE(m.current().held());
  EXPECT_EQ(m.current().fence(), fence);
  shared_mutex other(client(2), "a", patient);
  EXPECT_FALSE(other.try_lock());
  EXPECT_FALSE(other.try_lock_shared());  // a writer waits
  EXPECT_FALSE(test::is_ready(writer));
  m.unlock_shared();
  EXPECT_TRUE(test::get(std::move(writer)));
}

TEST_OF_STORES(sharing, lets_waiting_readers_in_when_a_writer_becomes_one) {
  shared_mutex m(client(0), "a", patient);
  m.lock();
  std::future<std::uint64_t> reader = in_background([s = client(1)] {
    shared_mutex mine(s, "a", patient);
    const std::shared_lock in(mine);
    return mine.current().fence();
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  m.unlock_and_lock_shared();
  EXPECT_EQ(test::get(std::move(reader)), m.current().fence());
  m.unlock_shared();
}

TEST_OF_STORES(sharing, makes_the_next_local_writer_wait_after_a_downgrade) {
  shared_mutex m(client(0), "a", patient);
  m.lock();
  std::future<bool> writer = in_background([&, s = client(0)] {
    shared_mutex mine(s, "a", patient);
    return mine.try_lock_for(test::hang);
  });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  m.unlock_and_lock_shared();
  EXPECT_TRUE(m.current().held());
  m.unlock_shared();
  EXPECT_TRUE(test::get(std::move(writer)));
}

TEST_OF_STORES(sharing, refuses_to_downgrade_a_lock_that_is_not_held) {
  shared_mutex m(client(0), "a", patient);
  EXPECT_THROW(m.unlock_and_lock_shared(), lock_error);
  m.lock_shared();
  EXPECT_THROW(m.unlock_and_lock_shared(), lock_error);
  m.unlock_shared();
}

TEST_OF_STORES(sharing, leaves_nothing_behind_of_many_readers) {
  constexpr int many = 50;
  std::vector<std::unique_ptr<shared_mutex>> all;
  std::vector<std::future<void>> readers;
  std::counting_semaphore<> inside(0), leave(0);
  for (int n = 0; n < many; ++n) {
    readers.push_back(in_background([&, s = client(static_cast<std::size_t>(n % 3))] {
      shared_mutex mine(s, "a", patient);
      const std::shared_lock in(mine);
      inside.release();
      EXPECT_TRUE(test::happens(leave));
    }));
  }
  for (int n = 0; n < many; ++n) EXPECT_TRUE(test::happens(inside));
  EXPECT_FALSE(is_free("a"));
  leave.release(many);
  for (auto& r : readers) test::get(std::move(r));
  EXPECT_TRUE(is_free("a"));
}

class sharing_that_expires : public suite {};
HOLDFAST_FOR(sharing_that_expires, stores_with({power::share}));

TEST_OF_STORES(sharing_that_expires, loses_a_reader_alone) {
  shared_mutex brief_one(client(0), "a", {.ttl = brief(), .renew = false}), other(client(1), "a", {.ttl = 1h});
  other.lock_shared();
  brief_one.lock_shared();
  const std::stop_token lost = brief_one.current().lost_token();
  EXPECT_TRUE(test::eventually([&] { return lost.stop_requested(); }));
  EXPECT_TRUE(other.current().held());
  EXPECT_FALSE(is_free("a"));
  brief_one.unlock_shared();
  other.unlock_shared();
}

TEST_OF_STORES(sharing_that_expires, admits_a_writer_after_the_last_reader) {
  shared_mutex brief_one(client(0), "a", {.ttl = brief(), .renew = false}), writer(client(1), "a", {.ttl = 1h});
  brief_one.lock_shared();
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
  brief_one.unlock_shared();
}

}  // namespace
}  // namespace holdfast::conformance
