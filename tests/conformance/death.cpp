// Locks and queue entries of a process that has died or is stopped.
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class death : public suite {
 protected:
  [[nodiscard]] std::future<bool> wait_in(std::size_t n) {
    std::future<bool> end =
        in_background([s = client(n)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));  // it has its place
    return end;
  }
};
HOLDFAST_FOR(death, stores_with({power::end_clients}));

TEST_OF_STORES(death, of_the_holder_frees_its_lock) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief()});
  service_->kill_newest();
  EXPECT_TRUE(client(0).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(death, of_the_holder_wakes_a_waiter) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief()});
  std::future<bool> waiting =
      in_background([s = client(0)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_OF_STORES(death, of_a_waiter_lets_the_one_behind_it_pass) {
  lease held = client(0).acquire("a");
  (void)client(2);
  std::future<std::error_code> dying = in_background([s = client(1)]() mutable {
    std::error_code why;
    EXPECT_FALSE(s.try_acquire("a", within(test::hang), {}, why));
    return why;
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> behind = wait_in(2);
  service_->kill_newest();  // the newest is 1: 2 was opened before it
  EXPECT_EQ(test::get(std::move(dying)), errc::unreachable);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(behind)));
}

TEST_OF_STORES(death, of_the_holder_wakes_a_waiter_whose_predecessor_gave_up) {
  (void)client(0);
  (void)client(2);
  lease held = client(1).acquire("a", {.ttl = brief()});
  std::stop_source stop;
  std::future<bool> first = in_background(
      [s = client(0), t = stop.get_token()]() mutable { return s.try_acquire("a", until(t)).has_value(); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  std::future<bool> second = wait_in(2);
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(first)));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(second)));
}

/// Deaths of clients that share a lock, or wait for a share.
class death_among_several : public suite {
 protected:
  /// A store that notices death at once does so long before waiters poll again, after ten seconds.
  [[nodiscard]] std::chrono::seconds soon() const {
    return joined_store().promises.notices_death_at_once ? 8s : test::hang;
  }
  [[nodiscard]] lock_options on() const { return {.ttl = brief()}; }

  /// A writer that waits for the lock and releases it at once.
  [[nodiscard]] std::future<bool> writer_in(std::size_t n) {
    return waiting_in(n, [](shared_mutex& m, std::chrono::seconds most) {
      const bool in = m.try_lock_for(most);
      if (in) m.unlock();
      return in;
    });
  }
  [[nodiscard]] std::future<bool> reader_in(std::size_t n) {
    return waiting_in(n, [](shared_mutex& m, std::chrono::seconds most) {
      const bool in = m.try_lock_shared_for(most);
      if (in) m.unlock_shared();
      return in;
    });
  }
  /// A client that will be killed.
  [[nodiscard]] std::future<bool> dying_reader_in(std::size_t n) {
    return waiting_in(n, [](shared_mutex& m, std::chrono::seconds) {
      try {
        return m.try_lock_shared_for(test::hang);
      } catch (const lock_error& e) {
        EXPECT_EQ(e.code(), errc::unreachable);
        return false;
      }
    });
  }

 private:
  template <class F>
  std::future<bool> waiting_in(std::size_t n, F f) {
    std::future<bool> end = in_background([s = client(n), f, most = soon(), how = on()] {
      shared_mutex mine(s, "a", how);
      return f(mine, most);
    });
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
    return end;
  }
};
HOLDFAST_FOR(death_among_several, stores_with({power::end_clients, power::share}));

TEST_OF_STORES(death_among_several, of_the_last_reader_lets_the_writer_in) {
  shared_mutex staying(client(0), "a", on());
  (void)client(2);
  shared_mutex dying(client(1), "a", on());
  staying.lock_shared();
  dying.lock_shared();
  std::future<bool> writer = writer_in(2);
  staying.unlock_shared();
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(writer)));
}

TEST_OF_STORES(death_among_several, of_one_reader_keeps_the_writer_behind_the_other_readers) {
  shared_mutex staying(client(0), "a", on());
  (void)client(2);
  shared_mutex dying(client(1), "a", on());
  staying.lock_shared();
  dying.lock_shared();
  std::future<bool> writer = writer_in(2);
  service_->kill_newest();
  EXPECT_FALSE(is_free("a"));
  EXPECT_TRUE(staying.current().held());
  staying.unlock_shared();
  EXPECT_TRUE(test::get(std::move(writer)));
}

TEST_OF_STORES(death_among_several, of_a_writer_admits_all_waiting_readers) {
  (void)client(0);
  (void)client(2);
  shared_mutex dying(client(1), "a", on());
  dying.lock();
  std::future<bool> one = reader_in(0), other = reader_in(2);
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(one)));
  EXPECT_TRUE(test::get(std::move(other)));
}

TEST_OF_STORES(death_among_several, of_a_permit_holder_gives_its_permits_to_a_waiter) {
  semaphore staying(client(0), "a", 4, on());
  (void)client(2);
  semaphore dying(client(1), "a", 4, on());
  const lease one = staying.take(1);
  const lease three = dying.take(3);
  std::future<bool> waiting = in_background([s = client(2), most = soon(), how = on()] {
    semaphore mine(s, "a", 4, how);
    return mine.try_take(within(most), 3).has_value();
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_TRUE(one.held());
}

TEST_OF_STORES(death_among_several, of_a_holder_is_noticed_by_a_later_first_waiter) {
  semaphore staying(client(0), "a", 4, on());
  (void)client(2);
  (void)client(3);
  semaphore dying(client(1), "a", 4, on());
  std::optional<lease> two = staying.take(2);
  const lease others = dying.take(2);
  std::counting_semaphore<> leave(0);
  std::future<bool> first = in_background([&leave, s = client(2), how = on()] {
    semaphore mine(s, "a", 4, how);
    const std::optional<lease> taken = mine.try_take(within(test::hang), 2);
    return taken && test::happens(leave);
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  std::future<bool> second = in_background([s = client(3), most = soon(), how = on()] {
    semaphore mine(s, "a", 4, how);
    return mine.try_take(within(most), 2).has_value();
  });
  EXPECT_TRUE(seen(3).comes(event::kind::waiting));
  two.reset();
  EXPECT_TRUE(seen(2).comes(event::kind::acquired));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(second)));
  leave.release();
  EXPECT_TRUE(test::get(std::move(first)));
}

TEST_OF_STORES(death_among_several, of_a_waiter_in_mid_queue_lets_later_waiters_pass) {
  shared_mutex held(client(0), "a", on());
  (void)client(2);
  (void)client(3);
  (void)client(1);
  held.lock();
  std::future<bool> first = writer_in(2);
  std::future<bool> dying = dying_reader_in(1);
  std::future<bool> last = writer_in(3);
  service_->kill_newest();
  held.unlock();
  EXPECT_TRUE(test::get(std::move(first)));
  EXPECT_TRUE(test::get(std::move(last)));
  EXPECT_FALSE(test::get(std::move(dying)));
}

class standstill : public suite {};
HOLDFAST_FOR(standstill, stores_with({power::stop_clients}));

TEST_OF_STORES(standstill, of_a_holder_with_a_fixed_lease_ends_with_its_ttl) {
  (void)client(0);
  lease fixed = client(1).acquire("a", {.ttl = brief(), .renew = false});
  service_->stop_newest();
  const std::optional<lease> next = client(0).try_acquire("a", within(test::hang));
  EXPECT_TRUE(next);
  EXPECT_FALSE(fixed.held());
  service_->continue_newest();
  EXPECT_EQ(fixed.release(), released::lost);
  EXPECT_TRUE(next->held());
}

class standstill_under_a_kernel : public suite {};
HOLDFAST_FOR(standstill_under_a_kernel, stores_with({power::stop_clients}, guarantees::exclusion::kernel));

TEST_OF_STORES(standstill_under_a_kernel, of_a_holder_keeps_the_lock_because_it_is_known_to_live) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief() / 3});
  service_->stop_newest();
  EXPECT_FALSE(client(0).try_acquire("a", within(brief())));
  service_->continue_newest();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

class standstill_of_several : public suite {};
HOLDFAST_FOR(standstill_of_several, stores_with({power::stop_clients, power::share}, guarantees::exclusion::kernel));

TEST_OF_STORES(standstill_of_several, readers_keeps_the_writer_out_because_they_are_known_to_live) {
  shared_mutex writing(client(0), "a");
  shared_mutex reading(client(1), "a", {.ttl = brief() / 3});
  reading.lock_shared();
  service_->stop_newest();
  EXPECT_FALSE(writing.try_lock_for(brief()));
  service_->continue_newest();
  EXPECT_TRUE(reading.current().held());
  reading.unlock_shared();
  EXPECT_TRUE(writing.try_lock_for(test::hang));  // the waiter that gave up above leaves the queue in the background
  writing.unlock();
}

}  // namespace
}  // namespace holdfast::conformance
