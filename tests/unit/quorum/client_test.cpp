#include "quorum/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/task_group.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::quorum {
namespace {

using namespace std::chrono_literals;
using holdfast::test::is_ready;
using runtime::instant;
using runtime::io;
using runtime::span;
using runtime::task;
using storage::answer;
using storage::candidate;
using storage::done;
using storage::milliseconds;
using storage::vote;

/// What operators see at a server: `listed` is what it lists, and every name is held there.
class fake_server final : public storage::backend, public storage::admin {
 public:
  std::vector<std::string> listed;

  std::unique_ptr<storage::claim> open(storage::claim_spec) override { return nullptr; }
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  [[nodiscard]] guarantees promises() const noexcept override { return {}; }
  task<answer<listing>> list(io&, std::string, std::string, std::size_t, limit) override {
    listing page;
    for (const std::string& name : listed) page.names.push_back({name, held()});
    co_return answer<listing>::yes(std::move(page));
  }
  task<answer<state>> inspect(io&, std::string, limit) override { co_return answer<state>::yes(held()); }

 private:
  [[nodiscard]] static state held() {
    state is;
    is.holding = 1;
    is.holders.emplace_back().owner = "a client";
    return is;
  }
};

/// A scripted server for one name, on the clock of the test.
class fake_voter final : public storage::voter {
 public:
  explicit fake_voter(const io& clock) : clock_(clock) {}

  bool dead = false;   ///< fails at once
  bool mute = false;   ///< carries out nothing, and says nothing
  bool young = false;  ///< does not vote
  bool keeps_no_fence = false;
  span takes{0};  ///< until it has carried out a request
  bool in_line = false;
  std::uint64_t last = 0;
  std::vector<std::uint32_t> asked_under;  ///< the numbers of attempts
  fake_server server;

  [[nodiscard]] std::uint32_t holder() const { return clock_.now() < end_ ? holder_ : 0; }
  void forget() { end_ = {}; }
  void vote_for(std::uint32_t other) {
    holder_ = other;
    end_ = runtime::never;
  }

  [[nodiscard]] bool is_reached() const noexcept override { return true; }
  task<std::optional<storage::failure>> reach(io&, limit) override { co_return std::nullopt; }
  task<answer<vote>> ask(io& i, const candidate& who, limit l) override {
    asked_under.push_back(who.attempt);
    const bool heard = co_await hears(i, l);
    if (!heard || young) co_return answer<vote>::unknown(no_answer());
    vote got;
    if (holder() != 0) {
      in_line = in_line || who.waits;
      got.holder = std::to_string(holder_);
      got.again = 1s;
      co_return answer<vote>::yes(std::move(got));
    }
    last = std::max(last + 1, who.proposed);
    got.fence = last;
    holder_ = who.attempt;
    end_ = runtime::later(i.now(), who.ttl);
    co_return answer<vote>::yes(std::move(got));
  }
  task<answer<done>> raise_fence(io& i, const candidate& who, std::uint64_t fence, limit l) override {
    const bool heard = co_await hears(i, l);
    if (!heard || keeps_no_fence) co_return answer<done>::unknown(no_answer());
    if (holder() != who.attempt) co_return answer<done>::no();
    last = std::max(last, fence);
    co_return answer<done>::yes(done());
  }
  task<answer<done>> renew(io& i, const candidate& who, milliseconds ttl, limit l) override {
    const bool heard = co_await hears(i, l);
    if (!heard || young) co_return answer<done>::unknown(no_answer());
    if (holder() != who.attempt) co_return answer<done>::no();
    end_ = std::max(end_, runtime::later(i.now(), ttl));
    co_return answer<done>::yes(done());
  }
  task<answer<done>> repair(io& i, const candidate& who, std::uint64_t fence, milliseconds ttl, limit l) override {
    const bool heard = co_await hears(i, l);
    if (!heard || holder() != 0) co_return answer<done>::no();
    last = std::max(last, fence);
    holder_ = who.attempt;
    end_ = runtime::later(i.now(), ttl);
    co_return answer<done>::yes(done());
  }
  task<answer<done>> withdraw(io& i, const candidate& who, bool leaves, limit l) override {
    const bool heard = co_await hears(i, l);
    if (!heard) co_return answer<done>::unknown(no_answer());
    if (leaves) in_line = false;
    if (holder() != who.attempt) co_return answer<done>::no();
    forget();
    co_return answer<done>::yes(done());
  }
  task<answer<done>> force_release(io&, storage::break_request, limit) override { co_return answer<done>::no(); }
  task<answer<std::string>> identity(io&, limit) override { co_return answer<std::string>::yes({}); }
  std::unique_ptr<storage::watching> watch(const std::string&, runtime::signal&) override { return nullptr; }
  [[nodiscard]] std::string where() const override { return "fake"; }
  [[nodiscard]] storage::backend& behind() noexcept override { return server; }

 private:
  [[nodiscard]] storage::failure no_answer() const {
    return dead ? storage::failure(errc::unreachable, "refused") : storage::failure::late("no answer");
  }
  task<bool> hears(io& i, limit l) {
    if (dead) co_return false;
    const instant then = mute ? runtime::never : runtime::later(i.now(), takes);
    const limit nearer(std::min(l.at(), then), l.stop());
    if (mute || takes > span(0)) co_await sleep(i, nearer);
    co_return !mute && i.now() >= then;
  }
  const io& clock_;
  std::uint32_t holder_ = 0;
  instant end_{};
};

class quorum_of_three : public testing::Test {
 protected:
  quorum_of_three() { open(0); }
  ~quorum_of_three() override { over(); }
  void open(std::size_t min_margin) {
    over();
    std::vector<std::unique_ptr<storage::voter>> all;
    for (fake_voter*& each : voters) {
      auto made = std::make_unique<fake_voter>(io_);
      each = made.get();
      all.push_back(std::move(made));
    }
    io_.advance(1h);
    const client::settings how{.max_ttl = 1h, .min_margin = min_margin, .clock = [this] { return today; }, .known = {}};
    store.emplace(std::move(all), how, io_);
    claim = store->open({.name = "a", .owner = {1, 2}, .ttl = 10s});
  }
  void over() {
    claim.reset();
    io_.advance(2h);  // all retries have ended
  }
  [[nodiscard]] answer<storage::grant> poll(span within = 500ms) {
    auto polling = test::start(callers_, claim->poll(io_, limit(io_.now() + within)));
    io_.run();
    for (int n = 0; n < 3'000 && !is_ready(polling); ++n) io_.advance(1ms);
    return polling.get();
  }
  [[nodiscard]] answer<instant> renew(span within = 500ms) {
    auto renewing = test::start(callers_, claim->renew(io_, 10s, limit(io_.now() + within)));
    io_.run();
    for (int n = 0; n < 3'000 && !is_ready(renewing); ++n) io_.advance(1ms);
    return renewing.get();
  }
  [[nodiscard]] answer<done> release(span within = 500ms) {
    auto releasing = test::start(callers_, claim->release(io_, limit(io_.now() + within)));
    io_.run();
    for (int n = 0; n < 3'000 && !is_ready(releasing); ++n) io_.advance(1ms);
    return releasing.get();
  }
  [[nodiscard]] std::vector<std::string> list() {
    auto listing_all = test::start(callers_, store->admin().list(io_, "", "", 100, limit(io_.now() + 1s)));
    io_.run();
    for (int n = 0; n < 3'000 && !is_ready(listing_all); ++n) io_.advance(1ms);
    answer<listing> got = listing_all.get();
    std::vector<std::string> names;
    for (const listing::entry& each : got.value().names) names.push_back(each.name);
    return names;
  }
  [[nodiscard]] long holding() const {
    return std::count_if(voters.begin(), voters.end(), [](const fake_voter* v) { return v->holder() != 0; });
  }

  holdfast::test::manual_io io_;
  std::uint64_t today = 1'000;
  std::array<fake_voter*, 3> voters{};
  std::optional<client> store;
  std::unique_ptr<storage::claim> claim;
  runtime::task_group callers_{io_};
};

TEST_F(quorum_of_three, is_granted_by_two_votes_without_waiting_for_the_third) {
  voters[0]->mute = true;
  const instant before = io_.now();
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(io_.now(), before);
  EXPECT_EQ(got.value().fence, today);
}

TEST_F(quorum_of_three, counts_its_deadline_from_before_the_first_byte) {
  for (fake_voter* each : voters) each->takes = 40ms;
  const instant before = io_.now();
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(got.value().deadline, storage::deadline_after(before, 10s));
}

TEST_F(quorum_of_three, counts_a_slow_voter_as_a_vote_against) {
  for (const std::size_t n : {0u, 1u}) voters[n]->takes = 60ms;
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::unreachable);
  io_.advance(1s);
  EXPECT_EQ(holding(), 0) << "votes that came late are taken back";
}

TEST_F(quorum_of_three, distinguishes_silent_servers_from_refusing_ones) {
  voters[0]->dead = true;
  voters[1]->mute = true;
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_TRUE(got.why().is_late) << "with the one that is silent there may be a majority";
  voters[1]->dead = true;
  got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_FALSE(got.why().is_late);
}

TEST_F(quorum_of_three, sends_no_release_if_no_vote_was_requested) {
  answer<done> gone = release();
  ASSERT_TRUE(gone.is_no());
  EXPECT_FALSE(gone.who().asked);
}

TEST_F(quorum_of_three, is_busy_and_withdraws_when_two_vote_for_another) {
  voters[0]->vote_for(77);
  voters[1]->vote_for(77);
  EXPECT_TRUE(poll().is_no());
  io_.run();
  EXPECT_EQ(voters[2]->holder(), 0u);
}

TEST_F(quorum_of_three, is_busy_when_votes_are_split_and_one_server_is_dead) {
  voters[0]->vote_for(77);
  voters[1]->dead = true;
  EXPECT_TRUE(poll().is_no());
}

TEST_F(quorum_of_three, retries_a_split_vote_before_one_look_reports_busy) {
  claim = store->open({.name = "a", .owner = {1, 3}, .ttl = 10s, .queue = false});
  voters[0]->vote_for(77);
  voters[1]->dead = true;
  auto polling = test::start(callers_, claim->poll(io_, limit(io_.now() + 500ms)));
  io_.run();
  EXPECT_FALSE(is_ready(polling));
  voters[0]->forget();
  io_.advance(100ms);
  ASSERT_TRUE(is_ready(polling));
  EXPECT_TRUE(polling.get().is_yes());
}

TEST_F(quorum_of_three, reports_busy_to_one_look_when_the_vote_stays_split) {
  claim = store->open({.name = "a", .owner = {1, 3}, .ttl = 10s, .queue = false});
  voters[0]->vote_for(77);
  voters[1]->dead = true;
  EXPECT_TRUE(poll().is_no());
}

TEST_F(quorum_of_three, is_unknown_when_two_are_dead) {
  voters[0]->dead = true;
  voters[1]->dead = true;
  EXPECT_TRUE(poll().is_unknown());
}

TEST_F(quorum_of_three, uses_a_new_attempt_number_each_time) {
  voters[0]->vote_for(77);
  voters[1]->vote_for(77);
  EXPECT_TRUE(poll().is_no());
  EXPECT_TRUE(poll().is_no());
  EXPECT_EQ(voters[2]->asked_under, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(quorum_of_three, adopts_its_votes_when_polled_again) {
  answer<storage::grant> first = poll();
  answer<storage::grant> again = poll();
  ASSERT_TRUE(first.is_yes() && again.is_yes());
  EXPECT_EQ(first.value().fence, again.value().fence);
  EXPECT_EQ(voters[0]->asked_under.size(), 1u);
}

TEST_F(quorum_of_three, writes_back_the_highest_fence_when_fences_differ) {
  voters[0]->last = 5'000;
  voters[2]->dead = true;
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(got.value().fence, 5'001u);
  EXPECT_EQ(voters[1]->last, 5'001u);
}

TEST_F(quorum_of_three, is_not_granted_when_the_fence_cannot_be_written_back) {
  voters[0]->last = 5'000;
  voters[1]->keeps_no_fence = true;
  voters[2]->dead = true;
  EXPECT_TRUE(poll().is_unknown());
  io_.advance(1s);
  EXPECT_EQ(holding(), 0);
}

TEST_F(quorum_of_three, renews_by_a_majority_and_repairs_a_server_that_forgot) {
  ASSERT_TRUE(poll().is_yes());
  voters[1]->forget();
  EXPECT_TRUE(renew().is_yes());
  io_.run();
  EXPECT_EQ(holding(), 3);
}

TEST_F(quorum_of_three, is_lost_when_two_have_forgotten_and_not_recreated) {
  ASSERT_TRUE(poll().is_yes());
  voters[0]->forget();
  voters[1]->forget();
  EXPECT_TRUE(renew().is_no());
  io_.run();
  EXPECT_EQ(voters[0]->holder() + voters[1]->holder(), 0u);
}

TEST_F(quorum_of_three, does_not_count_the_renewal_of_a_young_server) {
  ASSERT_TRUE(poll().is_yes());
  voters[0]->dead = true;
  voters[1]->young = true;
  EXPECT_TRUE(renew().is_unknown());
}

TEST_F(quorum_of_three, repairs_an_unreached_server_once_the_lock_is_held) {
  voters[2]->takes = 60ms;  // too long for a vote
  ASSERT_TRUE(poll().is_yes());
  EXPECT_EQ(holding(), 2);
  io_.advance(1s);
  EXPECT_EQ(holding(), 3);
}

TEST_F(quorum_of_three, is_released_and_retries_a_silent_server) {
  ASSERT_TRUE(poll().is_yes());
  EXPECT_EQ(holding(), 3);
  voters[1]->mute = true;
  EXPECT_TRUE(release().is_yes());
  voters[1]->mute = false;
  io_.advance(2s);
  EXPECT_EQ(holding(), 0);
}

TEST_F(quorum_of_three, leaves_the_queue_of_a_voter_that_votes_late) {
  for (fake_voter* each : voters) each->vote_for(77);
  voters[2]->takes = 40ms;
  EXPECT_TRUE(poll().is_no());
  voters[2]->takes = 0ms;
  EXPECT_TRUE(poll().is_no());
  EXPECT_TRUE(release().is_no());
  io_.advance(1s);
  for (const fake_voter* each : voters) EXPECT_FALSE(each->in_line);
}

TEST_F(quorum_of_three, knows_its_margin_beyond_a_majority) {
  voters[2]->takes = 40ms;
  ASSERT_TRUE(poll().is_yes());
  EXPECT_EQ(claim->margin(), 0u);
  io_.advance(50ms);
  EXPECT_EQ(claim->margin(), 1u) << "the last vote came later";
  voters[2]->dead = true;
  ASSERT_TRUE(renew().is_yes());
  io_.run();
  EXPECT_EQ(claim->margin(), 0u);
  voters[2]->dead = false;
  voters[2]->forget();
  ASSERT_TRUE(renew().is_yes());
  io_.advance(100ms);
  EXPECT_EQ(claim->margin(), 1u) << "the missing vote was restored";
}

TEST_F(quorum_of_three, with_a_margin_waits_for_the_missing_votes) {
  open(1);
  voters[2]->takes = 40ms;
  const instant before = io_.now();
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(io_.now(), before + 40ms);
  EXPECT_EQ(got.value().deadline, storage::deadline_after(before, 10s));
  EXPECT_EQ(claim->margin(), 1u);
}

TEST_F(quorum_of_three, with_a_margin_is_refused_without_it_and_says_why) {
  open(1);
  voters[2]->dead = true;
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::not_ready);
  EXPECT_NE(got.why().text.find("2 of the 3 servers that a min_margin of 1 needs"), std::string::npos);
  io_.run();
  EXPECT_EQ(holding(), 0) << "what was given in vain is taken back";
}

TEST_F(quorum_of_three, with_a_margin_stays_held_when_a_server_is_gone) {
  open(1);
  ASSERT_TRUE(poll().is_yes());
  voters[0]->dead = true;
  EXPECT_TRUE(renew().is_yes());
}

TEST_F(quorum_of_three, with_a_margin_is_busy_when_another_has_a_vote) {
  open(1);
  voters[0]->vote_for(77);
  EXPECT_TRUE(poll().is_no());
  voters[1]->vote_for(77);
  voters[2]->dead = true;
  EXPECT_TRUE(poll().is_no());
}

TEST_F(quorum_of_three, refuses_a_ttl_that_is_too_long) {
  claim = store->open({.name = "a", .owner = {1, 3}, .ttl = 2h});
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::bad_option);
}

TEST_F(quorum_of_three, has_whole_locks_only) {
  claim = store->open({.name = "a", .owner = {1, 3}, .wants = storage::share::reader(), .ttl = 10s});
  answer<storage::grant> got = poll();
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::unsupported);
}

TEST_F(quorum_of_three, lists_a_lock_that_reached_a_server_after_it_was_listed) {
  voters[1]->server.listed = voters[2]->server.listed = {"a"};
  EXPECT_EQ(list(), std::vector<std::string>{"a"});
}

TEST_F(quorum_of_three, lists_a_lock_of_all_servers_once) {
  for (fake_voter* each : voters) each->server.listed = {"a", "b"};
  EXPECT_EQ(list(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace holdfast::quorum
