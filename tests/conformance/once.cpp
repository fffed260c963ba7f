// once() runs a function in one client and lets the others use its result.
#include <mutex>
#include <stdexcept>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

/// The place of the value that all clients see, like a cache.
class shelf {
 public:
  [[nodiscard]] std::optional<int> look() const {
    const std::lock_guard lock(mutex_);
    return there_;
  }
  int put() {
    const std::lock_guard lock(mutex_);
    ++puts_;
    there_ = 7;
    return 7;
  }
  [[nodiscard]] int puts() const {
    const std::lock_guard lock(mutex_);
    return puts_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<int> there_;
  int puts_ = 0;
};

class doing_it_once : public suite {
 protected:
  static constexpr int crowd = 19;  // besides the maker

  /// A maker that is slow to renew on a busy machine must not look like one that died.
  [[nodiscard]] virtual lock_options on() const { return {.ttl = 1h}; }
  using make = std::function<int()>;

  /// Client n asks; it is in its make() when this returns.
  [[nodiscard]] std::future<std::optional<int>> maker_in(std::size_t n, make f) {
    const auto begun = std::make_shared<std::counting_semaphore<>>(0);
    auto asked = in_background([this, s = client(n), f, begun, how = on()] {
      const auto tell = [&] {
        begun->release();
        return f();
      };
      return once(s, "a", [this] { return there_.look(); }, tell, how);
    });
    EXPECT_TRUE(test::happens(*begun));
    return asked;
  }

  /// Each of the crowd asks, as a client of its own, and waits when this returns. `arrived` runs at each look.
  [[nodiscard]] std::vector<std::future<std::optional<int>>> crowd_in(const std::function<void(int)>& arrived = {}) {
    std::vector<std::future<std::optional<int>>> all;
    for (std::size_t n = 1; n <= crowd; ++n) {
      all.push_back(in_background([this, s = client(n), arrived, how = on()] {
        int looks = 0;
        const auto look = [&] {
          const std::optional<int> there = there_.look();
          if (arrived) arrived(++looks);
          return there;
        };
        return once(s, "a", look, [this] { return there_.put(); }, how);
      }));
    }
    for (std::size_t n = 1; n <= crowd; ++n) EXPECT_TRUE(seen(n).comes(event::kind::waiting));
    return all;
  }

  shelf there_;
};
HOLDFAST_FOR(doing_it_once, stores_with({power::share}));

TEST_OF_STORES(doing_it_once, lets_one_of_twenty_clients_make_it_and_the_others_find_it) {
  std::counting_semaphore<> all_wait(0);
  auto maker = maker_in(0, [&] {
    EXPECT_TRUE(test::happens(all_wait));
    return there_.put();
  });
  auto others = crowd_in();
  all_wait.release();
  EXPECT_EQ(test::get(std::move(maker)), 7);
  for (auto& other : others) EXPECT_EQ(test::get(std::move(other)), 7);
  EXPECT_EQ(there_.puts(), 1);
}

TEST_OF_STORES(doing_it_once, lets_all_waiters_look_together_instead_of_in_turn) {
  std::counting_semaphore<> all_wait(0), arrived(0), go_on(0);
  auto maker = maker_in(0, [&] {
    EXPECT_TRUE(test::happens(all_wait));
    return there_.put();
  });
  auto others = crowd_in([&](int looks) {
    if (looks < 2) return;
    arrived.release();
    EXPECT_TRUE(test::happens(go_on));
  });
  all_wait.release();
  for (int n = 0; n < crowd; ++n) EXPECT_TRUE(test::happens(arrived)) << "none of them has left yet";
  go_on.release(crowd);
  EXPECT_EQ(test::get(std::move(maker)), 7);
  for (auto& other : others) EXPECT_EQ(test::get(std::move(other)), 7);
  EXPECT_EQ(there_.puts(), 1);
}

TEST_OF_STORES(doing_it_once, lets_one_other_make_it_when_the_maker_throws) {
  std::counting_semaphore<> all_wait(0);
  auto maker = maker_in(0, [&]() -> int {
    EXPECT_TRUE(test::happens(all_wait));
    throw std::runtime_error("no value");
  });
  auto others = crowd_in();
  all_wait.release();
  EXPECT_THROW((void)test::get(std::move(maker)), std::runtime_error);
  for (auto& other : others) EXPECT_EQ(test::get(std::move(other)), 7);
  EXPECT_EQ(there_.puts(), 1);
}

TEST_OF_STORES(doing_it_once, gives_a_simultaneous_crowd_the_result_of_one) {
  for (std::size_t n = 1; n <= crowd; ++n) (void)client(n);
  std::atomic<int> found{0};
  {
    const test::threads all(crowd, [&](int n) {
      const auto mine = once(
          client(static_cast<std::size_t>(n) + 1), "a", [this] { return there_.look(); },
          [this] { return there_.put(); }, on());
      if (mine == 7) ++found;
    });
  }
  EXPECT_EQ(found, crowd);
  EXPECT_EQ(there_.puts(), 1);
}

TEST_OF_STORES(doing_it_once, leaves_with_nothing_at_its_limit_and_the_maker_goes_on) {
  std::counting_semaphore<> finish(0);
  auto maker = maker_in(0, [&] {
    EXPECT_TRUE(test::happens(finish));
    return there_.put();
  });
  const auto look = [this] { return there_.look(); };
  EXPECT_EQ(client(1).inspect("a").holding, 1u);  // it is connected, and the store answers: else the limit is an error
  EXPECT_FALSE(once(client(1), "a", within(500ms), look, [this] { return there_.put(); }));
  finish.release();
  EXPECT_EQ(test::get(std::move(maker)), 7);
  EXPECT_EQ(there_.puts(), 1);
}

class doing_it_once_though_the_maker_dies : public doing_it_once {
 protected:
  [[nodiscard]] lock_options on() const override { return {.ttl = brief()}; }
};
HOLDFAST_FOR(doing_it_once_though_the_maker_dies, stores_with({power::share, power::end_clients}));

TEST_OF_STORES(doing_it_once_though_the_maker_dies, lets_one_other_make_it) {
  for (std::size_t n = 1; n <= crowd; ++n) (void)client(n);
  std::counting_semaphore<> never_comes_to_it(0);
  auto dying = maker_in(0, [&] {
    EXPECT_TRUE(test::happens(never_comes_to_it));
    return 0;
  });
  auto others = crowd_in();
  service_->kill_newest();  // client 0
  for (auto& other : others) EXPECT_EQ(test::get(std::move(other)), 7);
  EXPECT_EQ(there_.puts(), 1);
  never_comes_to_it.release();
  EXPECT_EQ(test::get(std::move(dying)), 0);
}

class doing_it_once_through_cut_connections : public doing_it_once {
 protected:
  ~doing_it_once_through_cut_connections() override { service_->heal(); }
};
HOLDFAST_FOR(doing_it_once_through_cut_connections, stores_with({power::share, power::cut_replies}));

TEST_OF_STORES(doing_it_once_through_cut_connections, is_no_error) {
  store& mine = client();
  service_->cut_replies(2);
  EXPECT_EQ(once(mine, "a", [this] { return there_.look(); }, [this] { return there_.put(); }, {.ttl = 1h}), 7);
  EXPECT_EQ(there_.puts(), 1);
}

}  // namespace
}  // namespace holdfast::conformance
