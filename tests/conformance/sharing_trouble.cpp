// Faults while readers and permits are held: lost replies, and a store that loses its state.
#include <semaphore>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class cut_replies_of_shares : public suite {
 protected:
  ~cut_replies_of_shares() override { service_->heal(); }
  static constexpr lock_options patient{.ttl = 1h};  // no ttl hides what is left behind
};
HOLDFAST_FOR(cut_replies_of_shares, stores_with({power::share, power::cut_replies}));

TEST_OF_STORES(cut_replies_of_shares, let_a_reader_adopt_its_place) {
  shared_mutex m(client(), "a", patient), writer(client(1), "a", patient);
  service_->cut_replies(2);
  ASSERT_TRUE(m.try_lock_shared_for(test::hang));
  service_->heal();
  EXPECT_FALSE(writer.try_lock());
  m.unlock_shared();
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
}

TEST_OF_STORES(cut_replies_of_shares, do_not_keep_a_reader_in_that_has_left) {
  shared_mutex m(client(), "a", patient), writer(client(1), "a", patient);
  m.lock_shared();
  service_->cut_replies(3);
  m.unlock_shared();
  service_->heal();
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
}

TEST_OF_STORES(cut_replies_of_shares, do_not_keep_a_writer_from_becoming_a_reader) {
  shared_mutex m(client(), "a", patient), other(client(1), "a", patient);
  m.lock();
  service_->cut_replies(3);
  m.unlock_and_lock_shared();
  service_->heal();
  EXPECT_TRUE(m.current().held());
  EXPECT_TRUE(other.try_lock_shared());
  other.unlock_shared();
  m.unlock_shared();
  EXPECT_TRUE(other.try_lock_for(test::hang));
  other.unlock();
}

TEST_OF_STORES(cut_replies_of_shares, count_no_permit_twice_and_lose_none) {
  semaphore s(client(), "a", 3, patient), other(client(1), "a", 3, patient);
  service_->cut_replies(2);
  std::optional<lease> two = s.try_take(within(test::hang), 2);
  ASSERT_TRUE(two);
  service_->heal();
  EXPECT_FALSE(other.try_take(within(0s), 2));
  EXPECT_TRUE(other.try_acquire());
  service_->cut_replies(3);
  EXPECT_EQ(two->release(), released::unknown);
  service_->heal();
  EXPECT_TRUE(other.try_take(within(test::hang), 2));
  other.release();
  EXPECT_TRUE(other.try_take(within(test::hang), 3));
}

class lost_replies_of_shares : public suite {
 protected:
  ~lost_replies_of_shares() override { service_->heal(); }

  /// Downgrades to a reader in the store, without the client receiving the reply.
  void lose_the_reply_to_a_downgrade(shared_mutex& m) {
    m.lock();
    m.unlock_and_lock_shared();  // a server that does not know the script yet would not carry it out
    m.unlock_shared();
    m.lock();
    service_->lose_replies();
    EXPECT_THROW(m.unlock_and_lock_shared(), lock_error);
    service_->heal();
    EXPECT_TRUE(m.current().held());
  }
  static constexpr lock_options patient{.ttl = 1h};  // no ttl hides what is left behind
};
HOLDFAST_FOR(lost_replies_of_shares, stores_with({power::share, power::lose_replies}));

TEST_OF_STORES(lost_replies_of_shares, of_a_downgrade_let_unlock_shared_release_the_lock) {
  shared_mutex m(service_->open({.patience = 500ms}), "a", patient), writer(client(1), "a", patient);
  lose_the_reply_to_a_downgrade(m);
  m.unlock_shared();
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
}

TEST_OF_STORES(lost_replies_of_shares, of_a_downgrade_let_unlock_release_the_lock) {
  shared_mutex m(service_->open({.patience = 500ms}), "a", patient), writer(client(1), "a", patient);
  lose_the_reply_to_a_downgrade(m);
  m.unlock();
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
}

TEST_OF_STORES(lost_replies_of_shares, of_a_downgrade_leave_the_reader_of_another_thread) {
  shared_mutex m(service_->open({.patience = 500ms}), "a", patient), writer(client(1), "a", patient);
  lose_the_reply_to_a_downgrade(m);
  std::counting_semaphore<> reads(0), unlocked(0);
  std::future<bool> other = in_background([&] {
    const bool got = m.try_lock_shared_for(test::hang);
    reads.release();
    EXPECT_TRUE(test::happens(unlocked));
    const bool held = got && m.current().held() && !writer.try_lock();
    m.unlock_shared();
    return held;
  });
  EXPECT_TRUE(test::happens(reads));
  m.unlock_shared();
  unlocked.release();
  EXPECT_TRUE(test::get(std::move(other)));
  EXPECT_TRUE(writer.try_lock_for(test::hang));
  writer.unlock();
}

class loss_of_shared_state : public suite {};
HOLDFAST_FOR(loss_of_shared_state, stores_with({power::share, power::lose_state}));

TEST_OF_STORES(loss_of_shared_state, is_signalled_to_readers_and_to_holders_of_permits) {
  shared_mutex m(client(0), "a", {.ttl = brief()});
  m.lock_shared();
  semaphore s(client(1), "b", 2, {.ttl = brief()});
  const lease permit = s.take();
  const std::stop_token reader = m.current().lost_token(), taker = permit.lost_token();
  service_->lose_state();
  EXPECT_TRUE(test::happens(reader));
  EXPECT_TRUE(test::happens(taker));
  m.unlock_shared();
}

TEST_OF_STORES(loss_of_shared_state, does_not_let_an_old_reader_renew_or_end_what_others_hold_now) {
  shared_mutex old(client(0), "a", {.ttl = 1h, .renew = false}), young(client(1), "a", {.ttl = 1h});
  old.lock_shared();
  service_->lose_state();
  young.lock_shared();
  old.unlock_shared();
  EXPECT_TRUE(young.current().held());
  EXPECT_FALSE(is_free("a"));
  young.unlock_shared();
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(loss_of_shared_state, does_not_count_permits_that_are_gone) {
  semaphore s(client(0), "a", 2, {.ttl = 1h, .renew = false}), other(client(1), "a", 2, {.ttl = 1h});
  lease both = s.take(2);
  service_->lose_state();
  EXPECT_TRUE(other.try_take(within(0s), 2));
  EXPECT_EQ(both.release(), released::lost);
  EXPECT_TRUE(other.try_take(within(0s), 2));
}

}  // namespace
}  // namespace holdfast::conformance
