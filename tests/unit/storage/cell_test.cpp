// Tests the C++ rule for changing a cell. tests/conformance/cells.cpp tests the cells of every store.
#include <gtest/gtest.h>

#include "memory/cells.hpp"
#include "runtime/inline_io.hpp"
#include "storage/cell_record.hpp"
#include "storage/claim.hpp"

namespace holdfast::storage {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000, minute = 60 * second;

class cell_rule : public testing::Test {
 protected:
  static change to(std::uint64_t number, milliseconds ttl = 1s, bool again = false) {
    static std::uint64_t last = 0;
    return change{{++last, 0}, number, "", ttl, again};
  }
  static change repeated(change c) {
    c.again = true;
    return c;
  }
  answer<std::uint64_t> put(std::uint64_t seen, const change& c) {
    return std::move(put_cell(is_, seen, c, now_).said);
  }
  reading look() const { return read_cell(is_, now_); }

  std::optional<cell_record> is_;
  std::int64_t now_ = 1'000 * minute;
};

TEST_F(cell_rule, begins_at_the_clock_and_counts_on) {
  const reading nothing = look();
  EXPECT_EQ(nothing.version, static_cast<std::uint64_t>(now_));
  now_ += second;
  EXPECT_EQ(put(nothing.version, to(1)).value(), static_cast<std::uint64_t>(now_) + 1);
  EXPECT_EQ(put(look().version, to(2)).value(), static_cast<std::uint64_t>(now_) + 2);
}

TEST_F(cell_rule, is_not_created_twice_by_two_clients_in_one_instant) {
  const std::uint64_t one = look().version, other = look().version;
  EXPECT_TRUE(put(one, to(1)).is_yes());
  EXPECT_TRUE(put(other, to(1)).is_no());
}

TEST_F(cell_rule, remembers_a_cell_for_a_minute_after_its_end) {
  const reading nothing = look();
  const change creation = to(1);
  const std::uint64_t made = put(nothing.version, creation).value();
  now_ += second + minute - 1;
  EXPECT_FALSE(look().there);
  EXPECT_EQ(look().version, made);
  EXPECT_EQ(put(nothing.version, repeated(creation)).value(), made);
  EXPECT_FALSE(look().there) << "it was made twice";
  now_ += 1;
  EXPECT_EQ(look().version, static_cast<std::uint64_t>(now_));
  answer<std::uint64_t> late = put(nothing.version, repeated(creation));
  ASSERT_TRUE(late.is_unknown());
  EXPECT_EQ(late.why().code, errc::lost);
  EXPECT_FALSE(look().there);
}

TEST_F(cell_rule, takes_no_change_that_saw_nothing_too_long_ago) {
  const reading nothing = look();
  now_ += minute;
  EXPECT_TRUE(put(nothing.version, to(1)).is_no()) << "it may have been made and forgotten";
  EXPECT_TRUE(put(nothing.version, to(1, 1s, true)).is_unknown());
  EXPECT_TRUE(put(look().version, to(1)).is_yes());
}

TEST_F(cell_rule, takes_no_change_from_the_future) {
  EXPECT_TRUE(put(look().version + 1, to(1)).is_no()) << "the clock was set back";
}

TEST_F(cell_rule, forgets_a_change_of_an_earlier_cell) {
  const reading nothing = look();
  const change creation = to(1);
  ASSERT_TRUE(put(nothing.version, creation).is_yes());
  now_ += second + minute;
  ASSERT_TRUE(put(look().version, to(2)).is_yes());
  EXPECT_TRUE(put(nothing.version, repeated(creation)).is_unknown());
  EXPECT_TRUE(put(nothing.version, to(3)).is_no());
  EXPECT_EQ(look().number, 2u);
}

TEST_F(cell_rule, notifies_waiters_unless_only_the_ttl_is_extended) {
  EXPECT_TRUE(put_cell(is_, look().version, to(1), now_).tell);
  EXPECT_FALSE(put_cell(is_, look().version, to(1, 5s), now_).tell);
  EXPECT_TRUE(put_cell(is_, look().version, to(2), now_).tell);
  EXPECT_TRUE(put_cell(is_, look().version, to(2, 0ms), now_).tell);
  EXPECT_TRUE(put_cell(is_, look().version, to(2), now_).tell) << "it came again";
}

TEST_F(cell_rule, says_what_there_is_to_wait_for) {
  const reading nothing = look();
  EXPECT_FALSE(has_changed(is_, nothing, now_ + second)) << "there is still nothing";
  ASSERT_TRUE(put(nothing.version, to(1)).is_yes());
  EXPECT_TRUE(has_changed(is_, nothing, now_));
  const reading one = look();
  EXPECT_FALSE(has_changed(is_, one, now_));
  EXPECT_TRUE(has_changed(is_, one, now_ + second)) << "it has gone";
  EXPECT_TRUE(has_changed(is_, one, now_ + second + minute)) << "it is forgotten";
  now_ += second;
  EXPECT_FALSE(has_changed(is_, look(), now_ + minute));
}

TEST(memory_cells, forget_unused_cells) {
  memory::cells all;
  runtime::instant now(1h);
  for (int n = 0; n < 1'000; ++n) {
    const std::string name = std::to_string(n);
    const change brief{{1, 1}, 1, "", 1ms, false};
    ASSERT_TRUE(all.put(name, all.get(name, now).version, brief, now).is_yes());
    now += 10s;
  }
  EXPECT_LE(all.size(), 64u);
}

TEST(a_store_without_cells, says_so) {
  class bare final : public backend {
   public:
    std::unique_ptr<claim> open(claim_spec) override { return nullptr; }
    guarantees promises() const noexcept override { return {}; }
  };
  bare store;
  const std::unique_ptr<cell> none = store.open_cell("a");
  runtime::inline_io here;
  EXPECT_EQ(run_inline(none->get(here, limit(runtime::never))).why().code, errc::unsupported);
  EXPECT_EQ(run_inline(none->put(here, 0, change(), limit(runtime::never))).why().code, errc::unsupported);
  EXPECT_EQ(run_inline(none->changed(here, reading(), limit(runtime::never))), wake::signalled);
}

}  // namespace
}  // namespace holdfast::storage
