// Cells as every store implements them: versioned numbers that latches and elections are made of.
#include <limits>
#include <numeric>

#include "api/service.hpp"
#include "conformance/suite.hpp"
#include "runtime/inline_io.hpp"
#include "support/eventually.hpp"

namespace holdfast::conformance {
namespace {

using runtime::wake;
using storage::answer;
using storage::change;
using storage::reading;

/// Less than the polling interval of a waiter: a waiter that wakes up within it was notified.
const auto told_by = 9s;

class cells : public suite {
 protected:
  ~cells() override { service_->heal(); }

  /// A cell as one client sees it.
  class handle {
   public:
    handle(const store& s, const std::string& name)
        : keep_(s), raw_(detail::service::of(s)->backend().open_cell(name)), asked_(open(s, name)) {}
    [[nodiscard]] reading get() { return run_inline(asked_.look(here_, within(test::hang))).value(); }
    [[nodiscard]] answer<std::uint64_t> put(const reading& seen, const change& wanted) {
      return run_inline(raw_->put(here_, seen.version, wanted, within(test::hang)));
    }
    /// Repeats the call until its result is known.
    [[nodiscard]] answer<std::uint64_t> put_for_certain(const reading& seen, const change& wanted) {
      return run_inline(asked_.put(here_, seen.version, wanted, within(test::hang)));
    }
    [[nodiscard]] wake changed(const reading& seen, const limit& l) {
      return run_inline(raw_->changed(here_, seen, l));
    }
    /// Repeats compare-and-set until it has incremented the cell.
    void add(std::uint64_t n) {
      for (;;) {
        const reading is = get();
        answer<std::uint64_t> done = put_for_certain(is, to(is.there ? is.number + n : n));
        ASSERT_FALSE(done.is_unknown()) << done.why().text;
        if (done.is_yes()) return;
      }
    }
    void set(std::uint64_t n, const std::string& note = {}, std::chrono::milliseconds ttl = 1h) {
      ASSERT_TRUE(put(get(), to(n, note, ttl)).is_yes());
    }

   private:
    static core::reliable_cell open(const store& s, const std::string& name) {
      return detail::service::of(s)->open_cell(name, name);
    }
    store keep_;
    runtime::inline_io here_;
    std::unique_ptr<storage::cell> raw_;
    core::reliable_cell asked_;
  };

  handle cell(std::size_t n, const std::string& name = "a") { return handle(client(n), name); }

  std::shared_ptr<handle> shared_cell(std::size_t n) { return std::make_shared<handle>(client(n), "a"); }

  static change to(std::uint64_t number, std::string note = {}, std::chrono::milliseconds ttl = 1h) {
    return change{{runtime::random_bits(), runtime::random_bits()}, number, std::move(note), ttl, false};
  }
  static change again(change c) {
    c.again = true;
    return c;
  }
};
HOLDFAST_FOR(cells, stores_with({power::numbers}));

TEST_OF_STORES(cells, are_empty_until_something_is_put_there_which_all_see) {
  handle one = cell(0), other = cell(1);
  const reading nothing = one.get();
  EXPECT_FALSE(nothing.there);
  ASSERT_TRUE(one.put(nothing, to(7, "seven")).is_yes());
  for (handle* each : {&one, &other}) {
    const reading is = each->get();
    EXPECT_TRUE(is.there);
    EXPECT_EQ(is.number, 7u);
    EXPECT_EQ(is.note, "seven");
    EXPECT_GT(is.left, 0ms);
    EXPECT_LE(is.left, 1h);
  }
  EXPECT_FALSE(cell(1, "b").get().there);
}

TEST_OF_STORES(cells, change_only_from_what_was_seen) {
  handle one = cell(0), other = cell(1);
  const reading nothing = other.get();
  one.set(1);
  EXPECT_TRUE(other.put(nothing, to(9)).is_no());
  const reading first = other.get();
  answer<std::uint64_t> second = one.put(first, to(2));
  ASSERT_TRUE(second.is_yes());
  EXPECT_EQ(second.value(), first.version + 1);
  EXPECT_TRUE(other.put(first, to(9)).is_no());
  EXPECT_EQ(other.get().number, 2u);
}

TEST_OF_STORES(cells, keep_any_number_and_any_note_of_any_name) {
  std::string note(storage::longest_note, ' ');
  std::iota(note.begin(), note.end(), '\1');
  std::replace(note.begin(), note.end(), '\0', ' ');
  for (const std::string& name : {std::string("{a}b"), std::string("a b%\n"), std::string(500, 'x')}) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
      handle one = cell(0, name);
      one.set(number, note);
      const reading is = cell(1, name).get();
      EXPECT_EQ(is.number, number) << name;
      EXPECT_EQ(is.note, note) << name;
    }
  }
}

TEST_OF_STORES(cells, are_removed_and_never_repeat_a_version) {
  handle one = cell(0), other = cell(1);
  one.set(1);
  const reading first = one.get();
  ASSERT_TRUE(one.put(first, to(0, "", 0ms)).is_yes());
  const reading gone = other.get();
  EXPECT_FALSE(gone.there);
  EXPECT_TRUE(other.put(first, to(9)).is_no()) << "it was mistaken for the removed cell";
  ASSERT_TRUE(other.put(gone, to(1)).is_yes());
  EXPECT_GT(other.get().version, first.version);
  EXPECT_TRUE(other.put(first, to(9)).is_no());
}

TEST_OF_STORES(cells, expire_by_themselves) {
  handle one = cell(0);
  one.set(1, "", brief() / 3);
  const reading first = one.get();
  EXPECT_TRUE(test::eventually([&] { return !one.get().there; }));
  one.set(2);
  EXPECT_GT(one.get().version, first.version);
}

TEST_OF_STORES(cells, stay_for_as_long_as_the_last_change_says) {
  handle one = cell(0);
  one.set(1, "", brief());
  one.set(1, "", 1h);
  const auto end = boot_clock::now() + brief();
  while (boot_clock::now() < end) ASSERT_TRUE(one.get().there);
}

TEST_OF_STORES(cells, have_nothing_to_do_with_the_lock_of_that_name) {
  lease held = client(0).acquire("a");
  handle one = cell(0);
  one.set(1);
  EXPECT_FALSE(is_free("a"));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_EQ(one.get().number, 1u);
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(cells, know_a_change_that_was_made_when_it_is_asked_for_again) {
  handle one = cell(0);
  const reading nothing = one.get();
  const change creation = to(1);
  answer<std::uint64_t> first = one.put(nothing, creation);
  ASSERT_TRUE(first.is_yes());
  answer<std::uint64_t> repeated = one.put(nothing, again(creation));
  ASSERT_TRUE(repeated.is_yes());
  EXPECT_EQ(repeated.value(), first.value());

  const reading before = one.get();
  const change mine = to(2);
  ASSERT_TRUE(one.put(before, mine).is_yes());
  for (int n = 0; n < 63; ++n) one.set(3);
  answer<std::uint64_t> late = one.put(before, again(mine));
  ASSERT_TRUE(late.is_yes());
  EXPECT_EQ(late.value(), before.version + 1);
  EXPECT_EQ(one.get().number, 3u) << "it was made twice";
  one.set(4);
  answer<std::uint64_t> too_late = one.put(before, again(mine));
  ASSERT_TRUE(too_late.is_unknown()) << "the result can no longer be known";
  EXPECT_EQ(too_late.why().code, errc::lost);
  EXPECT_EQ(one.get().number, 4u);
}

TEST_OF_STORES(cells, know_a_change_that_was_not_made_when_it_is_asked_for_again) {
  handle one = cell(0), other = cell(1);
  const reading nothing = one.get();
  other.set(1);
  EXPECT_TRUE(one.put(nothing, again(to(9))).is_no());
  const reading first = one.get();
  for (int n = 0; n < 64; ++n) other.set(2);
  EXPECT_TRUE(one.put(first, again(to(9))).is_no());
  EXPECT_EQ(one.get().number, 2u);
}

TEST_OF_STORES(cells, are_not_created_a_second_time_by_a_change_that_comes_twice) {
  handle one = cell(0);
  const reading nothing = one.get();
  const change mine = to(1);
  ASSERT_TRUE(one.put(nothing, mine).is_yes());
  ASSERT_TRUE(one.put(one.get(), to(0, "", 0ms)).is_yes());
  EXPECT_TRUE(one.put(nothing, again(mine)).is_yes()) << "it was made";
  EXPECT_FALSE(one.get().there) << "it was made twice";
}

TEST_OF_STORES(cells, recognize_a_repeated_removal) {
  handle one = cell(0);
  one.set(1);
  const reading first = one.get();
  const change removal = to(0, "", 0ms);
  ASSERT_TRUE(one.put(first, removal).is_yes());
  one.set(2);
  EXPECT_TRUE(one.put(first, again(removal)).is_yes());
  EXPECT_TRUE(one.get().there);
}

TEST_OF_STORES(cells, notify_waiters_of_a_change_and_of_a_removal) {
  handle one = cell(0);
  reading seen = one.get();
  for (const change& next : {to(1), to(2), to(2, "note"), to(0, "", 0ms), to(3)}) {
    std::vector<std::future<wake>> waiting;
    for (const std::size_t n : {1u, 1u, 2u}) {
      waiting.push_back(in_background([seen, c = shared_cell(n)] { return c->changed(seen, within(told_by)); }));
    }
    ASSERT_TRUE(one.put(seen, next).is_yes());
    for (std::future<wake>& each : waiting) EXPECT_EQ(test::get(std::move(each)), wake::signalled);
    seen = one.get();
  }
}

TEST_OF_STORES(cells, wake_two_clients_that_take_turns) {
  const auto play = [](const std::shared_ptr<handle>& mine, std::uint64_t parity) {
    for (reading is = mine->get(); !is.there || is.number < 60;) {
      const bool my_turn = is.number % 2 == parity;
      if (my_turn) mine->set(is.number + 1);
      if (!my_turn && mine->changed(is, within(told_by)) != wake::signalled) return false;
      is = mine->get();
    }
    return true;
  };
  std::future<bool> one = in_background([play, c = shared_cell(0)] { return play(c, 0); });
  std::future<bool> other = in_background([play, c = shared_cell(1)] { return play(c, 1); });
  EXPECT_TRUE(test::get(std::move(one)));
  EXPECT_TRUE(test::get(std::move(other)));
}

TEST_OF_STORES(cells, wake_waiters_when_they_expire) {
  handle one = cell(0), other = cell(1);
  one.set(1, "", brief());
  wake why = wake::signalled;
  reading seen = other.get();
  while (seen.there) {
    why = other.changed(seen, within(told_by));
    ASSERT_EQ(why, wake::signalled);
    seen = other.get();
  }
}

TEST_OF_STORES(cells, are_waited_for_within_the_limit_and_until_asked_to_stop) {
  handle one = cell(0);
  one.set(1);
  EXPECT_EQ(one.changed(one.get(), within(20ms)), wake::late);
  std::stop_source stop;
  std::future<wake> waiting = in_background(
      [c = shared_cell(1), seen = one.get(), t = stop.get_token()] { return c->changed(seen, until(t)); });
  stop.request_stop();
  EXPECT_EQ(test::get(std::move(waiting)), wake::stopped);
}

TEST_OF_STORES(cells, that_have_changed_already_are_not_waited_for) {
  handle one = cell(0);
  const reading nothing = one.get();
  one.set(1);
  const reading first = one.get();
  one.set(2);
  EXPECT_EQ(one.changed(nothing, within(told_by)), wake::signalled);
  EXPECT_EQ(one.changed(first, within(told_by)), wake::signalled);
}

TEST_OF_STORES(cells, count_exactly_what_many_clients_add) {
  constexpr int clients = 4, each = 25;
  for (std::size_t n = 0; n < clients; ++n) (void)client(n);
  std::vector<std::future<void>> adding;
  for (std::size_t n = 0; n < clients; ++n) {
    adding.push_back(in_background([c = shared_cell(n)] {
      for (int times = 0; times < each; ++times) c->add(1);
    }));
  }
  for (auto& one : adding) test::get(std::move(one));
  EXPECT_EQ(cell(0).get().number, static_cast<std::uint64_t>(clients * each));
}

class cut_cells : public cells {};
HOLDFAST_FOR(cut_cells, stores_with({power::numbers, power::cut_replies}));

TEST_OF_STORES(cut_cells, change_exactly_once_though_replies_are_lost) {
  handle one = cell(0), other = cell(1);
  for (int n = 1; n <= 20; ++n) {
    service_->cut_replies(2);
    one.add(1);
    service_->cut_replies(0);
    other.add(1);
    ASSERT_EQ(one.get().number, 2u * static_cast<unsigned>(n));
  }
}

class cells_of_processes : public cells {};
HOLDFAST_FOR(cells_of_processes, stores_with({power::numbers, power::end_clients}));

TEST_OF_STORES(cells_of_processes, outlive_their_writer_until_they_expire) {
  handle one = cell(0);
  {
    handle killed = cell(1);
    killed.set(1, "long");
    handle also(client(1), "b");
    also.set(2, "brief", 2 * brief());
    service_->kill_newest();
  }
  EXPECT_EQ(one.get().note, "long");
  handle second = cell(0, "b");
  EXPECT_TRUE(test::eventually([&] { return !second.get().there; }));
  EXPECT_TRUE(one.get().there);
  one.set(3);
  EXPECT_EQ(one.get().number, 3u);
}

TEST_OF_STORES(cells_of_processes, notify_waiters_after_another_waiter_was_killed) {
  handle one = cell(0), waits = cell(1);
  const reading seen = one.get();
  handle dies = cell(2);
  std::future<wake> dying = in_background([&] { return dies.changed(seen, within(2s)); });
  std::future<wake> waiting = in_background([&] { return waits.changed(seen, within(told_by)); });
  service_->kill_newest();
  (void)test::get(std::move(dying));
  one.set(1);
  EXPECT_EQ(test::get(std::move(waiting)), wake::signalled);
}

class forgotten_cells : public cells {};
HOLDFAST_FOR(forgotten_cells, stores_with({power::numbers, power::lose_state}));

TEST_OF_STORES(forgotten_cells, are_empty_and_can_be_used_again) {
  handle one = cell(0);
  one.set(1);
  const reading before = one.get();
  service_->lose_state();
  EXPECT_FALSE(one.get().there);
  one.set(2);
  EXPECT_GT(one.get().version, before.version);
  EXPECT_TRUE(cell(1).put(before, to(9)).is_no());
}

class silent_cells : public cells {};
HOLDFAST_FOR(silent_cells, stores_with({power::numbers, power::fall_silent}));

TEST_OF_STORES(silent_cells, are_unreachable_and_answer_again_later) {
  store impatient = service_->open({.patience = 100ms});
  core::reliable_cell c = detail::service::of(impatient)->open_cell("a", "a");
  runtime::inline_io here;
  service_->fall_silent();
  answer<reading> got = run_inline(c.look(here, within(test::hang)));
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::unreachable);
  answer<std::uint64_t> made = run_inline(c.put(here, 1, to(1), within(test::hang)));
  ASSERT_TRUE(made.is_unknown());
  EXPECT_EQ(made.why().code, errc::unreachable);
  service_->heal();
  EXPECT_FALSE(cell(0).get().there);
}

}  // namespace
}  // namespace holdfast::conformance
