#include "redis/lock/client.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "redis/protocol/owner.hpp"
#include "redis/protocol/slots.hpp"
#include "support/manual_io.hpp"
#include "support/replies.hpp"
#include "support/started.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::grant;
using lines = std::vector<std::string>;

/// A server that answers what the test says, in the protocol's own words.
struct scripted_transport final : transport {
  runtime::task<reply> call(runtime::io&, const command& what, limit, std::optional<abandoned_command>*) override {
    for (const std::string& each : test::decoded(what.bytes())) sent.push_back(each);
    reply last = storage::failure(errc::unreachable, "");
    for (std::size_t n = 0; n < what.replies(); ++n) {
      if (answers.empty()) co_return storage::failure(errc::unreachable, "the test has no answer");
      decoder d;
      d.feed(answers.front());
      answers.pop_front();
      last = d.next().value();
    }
    co_return last;
  }
  void follow(const abandoned_command&, const command&) noexcept override {}
  [[nodiscard]] bool listens(const std::string&) const noexcept override { return listening; }
  runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string&, limit) override {
    listening = !deaf;
    co_return deaf;
  }
  void post(const command& what) override {
    for (const std::string& each : test::decoded(what.bytes())) posted.push_back(each);
  }
  [[nodiscard]] storage::shard shard_of(std::uint16_t slot) const noexcept override {
    const auto found = shards.find(slot);
    return found == shards.end() ? at : found->second;
  }

  std::deque<std::string> answers;
  lines sent, posted;
  std::map<std::uint16_t, storage::shard> shards;
  storage::shard at = storage::no_shard;  // of the others
  bool listening = true;
  std::optional<storage::failure> deaf;
};

const std::string inbox_id = "AbCdEfGhIjKlMnOp";
const std::string holder = owner_text("QrStUvWxYz012345", {8, 9}, {}, 500ms, "other");
constexpr std::int64_t server_time = 1'763'225'000'000'000;  // us

std::string busy_with(std::int64_t left_ms, std::int64_t ahead, std::int64_t time, std::string_view who) {
  const auto number = [](std::int64_t n) { return ":" + std::to_string(n) + "\r\n"; };
  return "*6\r\n" + number(left_ms) + number(17) + number(ahead) + number(time) + "$" + std::to_string(who.size()) +
         "\r\n" + std::string(who) + "\r\n" + number(70);
}

class redis_client : public testing::Test {
 protected:
  void SetUp() override { open("redis://"); }
  void open(const std::string& url) {
    client_ = std::make_unique<client>(settings::parse(url), inbox_id, [this](const identity& me, listener& who) {
      channel_ = me.inboxes + me.id;
      listener_ = &who;
      auto made = std::make_unique<scripted_transport>();
      transport_ = made.get();
      return made;
    });
  }
  std::unique_ptr<storage::claim> claim(storage::milliseconds ttl = 10s, bool queue = true) {
    return client_->open({.name = "a", .owner = {1, 2}, .ttl = ttl, .queue = queue, .label = "me"});
  }
  [[nodiscard]] limit soon() const { return limit(io_.now() + 1s); }
  template <class T>
  T ended(runtime::task<T> work) {
    std::future<T> end = test::start(running_, std::move(work));
    io_.run();
    return end.get();
  }
  answer<grant> poll(storage::claim& c, const std::string& server_says) {
    transport_->answers.push_back(server_says);
    return ended(c.poll(io_, soon()));
  }
  /// Pushes a grant of the lock to our claim, `after` the poll that was denied.
  void push(std::chrono::microseconds after, std::uint64_t fence = 77) {
    const std::string owner = owner_text(inbox_id, {1, 2}, {}, 500ms, "me");
    listener_->pushed(std::to_string(fence) + " " + std::to_string(server_time + after.count()) + " " +
                      std::to_string(owner.size()) + " " + owner + "holdfast:{a}");
  }
  /// Returns how long the client sleeps before its next poll.
  runtime::span pause(storage::claim& c) {
    const instant before = io_.now();
    std::future<wake> woken = test::start(running_, c.wakeup(io_, limit(before + 48h)));
    io_.run();
    while (!test::is_ready(woken) && io_.now() < before + 48h) io_.advance(1ms);
    return io_.now() - before;
  }

  test::manual_io io_;
  runtime::task_group running_{io_};
  std::unique_ptr<client> client_;
  scripted_transport* transport_ = nullptr;
  listener* listener_ = nullptr;
  std::string channel_;
};

TEST_F(redis_client, listens_on_the_channel_of_its_inbox) { EXPECT_EQ(channel_, "holdfast:in:" + inbox_id); }

TEST_F(redis_client, has_claims_until_the_last_is_destroyed) {
  EXPECT_FALSE(listener_->has_claims());
  {
    const std::unique_ptr<storage::claim> one = claim();
    const std::unique_ptr<storage::claim> look = claim(10s, false);
    EXPECT_TRUE(listener_->has_claims());
  }
  EXPECT_FALSE(listener_->has_claims());
}

TEST_F(redis_client, wakes_only_waiters_whose_messages_may_be_lost) {
  open("redis+cluster://node");
  const auto claim_of = [&](const std::string& name, std::uint64_t n) {
    return client_->open({.name = name, .owner = {1, n}, .ttl = 10s});
  };
  const auto slot = [](const std::string& name) { return slot_of("holdfast:{" + name + "}"); };
  transport_->shards = {{slot("a"), 1}, {slot("b"), 2}, {slot("c"), 1}};
  const auto a = claim_of("a", 1), b = claim_of("b", 2), moved = claim_of("c", 3);
  for (const auto* each : {&a, &b, &moved}) {
    EXPECT_TRUE(poll(**each, busy_with(5'000, 0, server_time, holder)).is_no());
  }
  transport_->shards[slot("c")] = 2;
  const limit enough(io_.now() + 48h);
  const auto at_a = test::start(running_, a->wakeup(io_, enough)), at_b = test::start(running_, b->wakeup(io_, enough));
  const auto at_c = test::start(running_, moved->wakeup(io_, enough));
  io_.run();
  listener_->in_doubt(1);
  io_.run();
  EXPECT_TRUE(test::is_ready(at_a));
  EXPECT_FALSE(test::is_ready(at_b));
  EXPECT_TRUE(test::is_ready(at_c)) << "it listened there";
  listener_->missed(2);
  io_.run();
  EXPECT_TRUE(test::is_ready(at_b));
}

TEST_F(redis_client, wakes_only_watchers_whose_messages_may_be_lost) {
  open("redis+cluster://node");
  const auto one = client_->open_cell("a"), other = client_->open_cell("b");
  const limit enough(io_.now() + 48h);
  const auto watch = [&](storage::cell& c, storage::shard at) {
    transport_->answers.push_back(":0\r\n");
    transport_->at = at;
    std::future<wake> woken = test::start(running_, c.changed(io_, {}, enough));
    io_.run();
    return woken;
  };
  const auto at_one = watch(*one, 1), at_other = watch(*other, 2);
  transport_->at = 2;
  listener_->in_doubt(1);
  io_.run();
  EXPECT_TRUE(test::is_ready(at_one));
  EXPECT_FALSE(test::is_ready(at_other));
  listener_->missed(storage::no_shard);
  io_.run();
  EXPECT_TRUE(test::is_ready(at_other));
}

TEST_F(redis_client, counts_the_deadline_from_the_request) {
  const auto mine = claim();
  answer<grant> got = poll(*mine, ":123\r\n");
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(got.value().fence, 123u);
  EXPECT_EQ(got.value().fences, fences_in_a_block);
  EXPECT_EQ(got.value().deadline, storage::deadline_after(io_.now(), 10s));
}

TEST_F(redis_client, enters_the_queue_only_when_subscribed) {
  transport_->listening = false;
  const auto mine = claim();
  transport_->answers.push_back(busy_with(100, -1, server_time, holder));
  EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
  ASSERT_EQ(transport_->sent.size(), 2u);
  EXPECT_TRUE(transport_->sent[0].ends_with("\"-\"]")) << "without a place: " << transport_->sent[0];
  EXPECT_TRUE(transport_->sent[1].ends_with("\"\"]")) << "with one: " << transport_->sent[1];
  EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
  EXPECT_TRUE(transport_->sent[2].ends_with("\"17\"]")) << "the one it had: " << transport_->sent[2];
}

TEST_F(redis_client, reports_why_it_cannot_subscribe) {
  transport_->listening = false;
  transport_->deaf.emplace(errc::denied, "no channel");
  const auto mine = claim();
  answer<grant> got = poll(*mine, busy_with(100, -1, server_time, holder));
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::denied);
}

TEST_F(redis_client, trusts_a_grant_message_without_polling) {
  const auto mine = claim();
  const instant sent = io_.now();
  EXPECT_EQ(poll(*mine, busy_with(100, 0, server_time, holder)).who().holder, "other");
  io_.advance(150ms);
  push(100ms);
  answer<grant> got = ended(mine->poll(io_, soon()));
  ASSERT_TRUE(got.is_yes());
  EXPECT_EQ(transport_->sent.size(), 1u);
  EXPECT_EQ(got.value().fence, 77u);
  EXPECT_EQ(got.value().deadline, storage::deadline_after(sent + 99ms, 500ms)) << "as old as it can be, by both clocks";
}

// The slot may have moved since, or a replica taken over: a server whose clock shows something else.
TEST_F(redis_client, counts_a_grant_from_its_last_poll_with_several_servers) {
  for (const char* const url : {"redis+cluster://one,other", "redis+sentinel://one,other/service"}) {
    open(url);
    for (const storage::milliseconds clock_of_the_other : {100ms, -10000ms, 10000ms}) {
      const auto mine = claim();
      const instant sent = io_.now();
      EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
      io_.advance(150ms);
      push(clock_of_the_other);
      answer<grant> got = ended(mine->poll(io_, soon()));
      ASSERT_TRUE(got.is_yes()) << url;
      EXPECT_EQ(got.value().deadline, storage::deadline_after(sent, 500ms)) << url;
    }
  }
}

TEST_F(redis_client, polls_when_the_age_of_a_message_is_unknown) {
  struct {
    const char* what;
    runtime::span now;
    std::chrono::microseconds granted;
  } const cases[] = {
      {"the server's clock was set back", 150ms, -1us},
      {"the server's clock was set forward", 150ms, 160ms},
      {"too little is left", 500ms, 100ms},
  };
  for (const auto& c : cases) {
    const auto mine = claim();
    EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
    io_.advance(c.now);
    push(c.granted);
    const std::size_t before = transport_->sent.size();
    EXPECT_EQ(poll(*mine, ":5\r\n").value().fence, 5u) << c.what;
    EXPECT_EQ(transport_->sent.size(), before + 1) << c.what;
  }
}

// The server's clock was set back between the two: the message is a later one by it.
TEST_F(redis_client, polls_when_a_message_has_an_older_fence) {
  const auto mine = claim();
  EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
  io_.advance(150ms);
  push(100ms, 70);
  EXPECT_EQ(poll(*mine, ":5\r\n").value().fence, 5u);
}

TEST_F(redis_client, polls_when_a_message_precedes_any_reply) {
  const auto mine = claim();
  push(0us);
  EXPECT_EQ(poll(*mine, ":5\r\n").value().fence, 5u);
}

TEST_F(redis_client, survives_impossible_server_times) {
  const auto mine = claim();
  EXPECT_TRUE(poll(*mine, busy_with(100, 0, 0, holder)).is_no());
  const std::string owner = owner_text(inbox_id, {1, 2}, {}, 500ms, "me");
  for (const char* const time : {"9007199254740992", "9223372036854775807", "-9223372036854775808"}) {
    listener_->pushed("77 " + std::string(time) + " " + std::to_string(owner.size()) + " " + owner + "holdfast:{a}");
    EXPECT_TRUE(poll(*mine, busy_with(100, 0, 0, holder)).is_no()) << time;
  }
  for (const std::int64_t time :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_TRUE(poll(*mine, busy_with(100, 0, time, holder)).is_unknown()) << time;
  }
}

TEST_F(redis_client, releases_a_grant_whose_waiter_has_left) {
  push(0us);
  ASSERT_EQ(transport_->posted.size(), 2u);  // the script first: the server may have forgotten it
  EXPECT_NE(transport_->posted[1].find(scripts::release.sha), std::string::npos);
  EXPECT_NE(transport_->posted[1].find("\"holdfast:{a}\" \"holdfast:{a}:q\" \"holdfast:{a}:f\""), std::string::npos);
  listener_->pushed("hello");
  EXPECT_EQ(transport_->posted.size(), 2u) << "not ours";
}

TEST_F(redis_client, polls_again_when_the_lease_must_have_expired) {
  const auto mine = claim();
  EXPECT_TRUE(poll(*mine, busy_with(100, 0, server_time, holder)).is_no());
  const runtime::span first = pause(*mine);
  EXPECT_GE(first, 101ms);
  EXPECT_LE(first, 104ms);
  EXPECT_TRUE(poll(*mine, busy_with(60'000, 1, server_time, holder)).is_no());
  const runtime::span second = pause(*mine);
  EXPECT_GE(second, 1'001ms) << "a claim ttl for everybody before us";
  EXPECT_LE(second, 1'004ms);
}

TEST_F(redis_client, does_not_spin_on_a_lock_without_ttl) {
  for (const std::string& who : {holder, std::string("0123456789abcdef0123456789abcdef")}) {
    for (const std::int64_t left :
         {std::int64_t{-1}, std::int64_t{1} << 53, std::numeric_limits<std::int64_t>::max()}) {
      const auto mine = claim();
      EXPECT_TRUE(poll(*mine, busy_with(left, 0, server_time, who)).is_no());
      const runtime::span slept = pause(*mine);
      EXPECT_GE(slept, 100ms) << left;
      EXPECT_LE(slept, 510ms) << left;
    }
  }
}

TEST_F(redis_client, polls_at_once_when_a_script_stopped_at_its_bound) {
  const auto mine = claim();
  EXPECT_TRUE(poll(*mine, busy_with(-2, 3, server_time, "")).is_no());
  EXPECT_EQ(pause(*mine), 0ms);
}

TEST_F(redis_client, treats_a_malformed_reply_as_unknown) {
  for (const char* const bad :
       {":0\r\n", ":-1\r\n", ":9223372036854775807\r\n", "+OK\r\n", "$-1\r\n", "*0\r\n",
        "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n+x\r\n", "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
        "*6\r\n+1\r\n:1\r\n:1\r\n:1\r\n+x\r\n:1\r\n", "*6\r\n:1\r\n:1\r\n:1\r\n_\r\n+x\r\n:1\r\n",
        "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n+x\r\n_\r\n"}) {
    const auto mine = claim();
    answer<grant> got = poll(*mine, bad);
    ASSERT_TRUE(got.is_unknown()) << bad;
    EXPECT_EQ(got.why().code, errc::foreign) << bad;
  }
  for (const char* const bad : {"+OK\r\n", "$-1\r\n", "*1\r\n:1\r\n", ":-1\r\n", "$1\r\n0\r\n"}) {
    const auto mine = claim();
    transport_->answers = {bad, bad};
    EXPECT_TRUE(ended(mine->renew(io_, 10s, soon())).is_unknown()) << bad;
    EXPECT_TRUE(ended(mine->release(io_, soon())).is_unknown()) << bad;
  }
}

TEST_F(redis_client, rejects_a_name_that_could_be_another_locks_key) {
  open("redis://h?prefix=");
  const auto mine = client_->open({.name = "holdfast:{a}:f", .owner = {1, 2}, .ttl = 10s});
  answer<grant> got = ended(mine->poll(io_, soon()));
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::bad_name);
  EXPECT_TRUE(transport_->sent.empty());
}

TEST_F(redis_client, renews_from_the_request) {
  const auto mine = claim();
  transport_->answers = {":1\r\n", ":0\r\n"};
  EXPECT_EQ(ended(mine->renew(io_, 20s, soon())).value(), storage::deadline_after(io_.now(), 20s));
  EXPECT_TRUE(ended(mine->renew(io_, 20s, soon())).is_no());
}

TEST_F(redis_client, repeats_a_release_until_all_waiters_are_served) {
  const auto mine = claim();
  transport_->answers = {":5\r\n", ":4\r\n", ":0\r\n"};
  EXPECT_TRUE(ended(mine->release(io_, soon())).is_yes());
  EXPECT_EQ(transport_->sent.size(), 3u);
  transport_->answers = {":0\r\n"};
  EXPECT_TRUE(ended(mine->release(io_, soon())).is_no());
}

TEST_F(redis_client, loads_a_missing_script) {
  const auto mine = claim();
  transport_->answers = {"-NOSCRIPT No matching script.\r\n", "$40\r\n" + std::string(40, 'a') + "\r\n"};
  EXPECT_TRUE(poll(*mine, ":5\r\n").is_yes());
  ASSERT_EQ(transport_->sent.size(), 3u);
  EXPECT_EQ(transport_->sent[1], "[\"SCRIPT\" \"LOAD\" \"" + std::string(scripts::acquire.text) + "\"]");
  EXPECT_EQ(transport_->sent[2], transport_->sent[0]);
}

TEST_F(redis_client, stops_loading_a_script_that_stays_missing) {
  const auto mine = claim();
  for (int n = 0; n < 20; ++n) {
    transport_->answers.emplace_back("-NOSCRIPT No matching script.\r\n");
    transport_->answers.emplace_back("+sha\r\n");
  }
  answer<grant> got = ended(mine->poll(io_, soon()));
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, errc::not_ready);
  EXPECT_LE(transport_->sent.size(), 20u);
}

}  // namespace
}  // namespace holdfast::redis
