// A process without free file descriptors or threads still renews its locks, and its errors name the cause.
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "faults/redis_store.hpp"
#include "redis/sentinel/sentinel_watch.hpp"
#include "support/child.hpp"
#include "support/deaf_listener.hpp"
#include "support/redis_group.hpp"
#include "support/started.hpp"

namespace holdfast::faults {
namespace {

constexpr std::chrono::milliseconds ttl_in_need = 1s;

/// Sets a limit of this process.
bool set_limit(decltype(RLIMIT_NOFILE) which, rlim_t to) {
  rlimit now{};
  if (::getrlimit(which, &now) != 0) return false;
  now.rlim_cur = to;
  return ::setrlimit(which, &now) == 0;
}

bool contains_all(const std::string& text, std::initializer_list<std::string_view> words) {
  bool all = true;
  for (const std::string_view each : words) all = all && text.find(each) != std::string::npos;
  if (!all) std::cerr << "in the child: the error is: " << text << std::endl;
  return all;
}

/// Returns true if all leases are still held after several ttls.
bool are_held_for_long(const std::vector<lease>& all) {
  const auto end = boot_clock::now() + 4 * ttl_in_need;
  const auto are_held = [&] { return std::ranges::all_of(all, &lease::held); };
  return test::eventually([&] { return !are_held() || boot_clock::now() >= end; }) && are_held();
}

/// Opens 40 stores and acquires a lock with each. Returns true if some were refused for this reason and the others stay
/// held.
bool are_held_or_refused(const std::string& url, std::initializer_list<std::string_view> why) {
  std::vector<store> stores;  // also those without a lock, which keep what they have opened
  std::vector<lease> all;
  int refused = 0;
  for (int n = 0; n < 40; ++n) {
    try {
      stores.push_back(open(url, {.patience = 300ms}));
      all.push_back(stores.back().acquire("a/" + std::to_string(n), {.ttl = ttl_in_need}));
    } catch (const lock_error& e) {
      HOLDFAST_SHOULD(e.code() == errc::not_ready && contains_all(e.what(), why));
      ++refused;
    }
  }
  HOLDFAST_SHOULD(!all.empty() && refused > 0);
  return are_held_for_long(all);
}

/// Makes this process run as a user that has no other process, because the limit on threads applies per user.
bool become_unique_user() {
  const auto unused_uid = static_cast<uid_t>(1'000'000 + ::getpid());
  return ::setgroups(0, nullptr) == 0 && ::setgid(unused_uid) == 0 && ::setuid(unused_uid) == 0;
}

class redis_limits : public testing::Test {
 protected:
  test::redis_server server;
};

TEST_F(redis_limits, refuses_or_renews_without_descriptors) {
  test::child with_few([&] {
    HOLDFAST_SHOULD(set_limit(RLIMIT_NOFILE, 64));
    return are_held_or_refused(server.url(), {"no file descriptor left (EMFILE)", "ulimit -n", "share one store"});
  });
  EXPECT_TRUE(with_few.ends_well());
}

TEST_F(redis_limits, refuses_or_renews_without_threads) {
  namespace fs = std::filesystem;
  fs::permissions(fs::path(server.socket()).parent_path(), fs::perms(0777));
  fs::permissions(server.socket(), fs::perms(0777));
  test::child with_few([&] {
    HOLDFAST_SHOULD(set_limit(RLIMIT_NPROC, 30) && become_unique_user());
    return are_held_or_refused(server.url(),
                               {"a thread could not be started (EAGAIN)", "ulimit -u", "share one store"});
  });
  EXPECT_TRUE(with_few.ends_well());
}

/// A channel between two processes, which send each other one word at a time.
class words {
 public:
  words() { EXPECT_EQ(::pipe(ends_), 0); }
  words(const words&) = delete;
  words& operator=(const words&) = delete;
  ~words() {
    for (const int each : ends_) ::close(each);
  }
  void say() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  [[nodiscard]] bool come() const {
    pollfd one{ends_[0], POLLIN, 0};
    char c = 0;
    return ::poll(&one, 1, static_cast<int>(1000 * test::hang.count())) == 1 && ::read(ends_[0], &c, 1) == 1;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(redis_limits, keeps_locks_when_events_cannot_reconnect) {
  const words ready, broken, renewed;
  test::child with_few([&] {
    watched_client one(server.url());
    std::vector<lease> held;
    held.push_back(one.store.acquire("a", {.ttl = ttl_in_need}));
    HOLDFAST_SHOULD(one.seen->comes(event::kind::renewed));  // by the event connection
    rlimit before{};
    HOLDFAST_SHOULD(::getrlimit(RLIMIT_NOFILE, &before) == 0 && set_limit(RLIMIT_NOFILE, 3));
    ready.say();
    HOLDFAST_SHOULD(broken.come());
    HOLDFAST_SHOULD(are_held_for_long(held));
    HOLDFAST_SHOULD(set_limit(RLIMIT_NOFILE, before.rlim_cur));
    renewed.say();
    HOLDFAST_SHOULD(broken.come());
    return held.front().held();
  });
  ASSERT_TRUE(ready.come());
  EXPECT_GE(server.ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 1);
  broken.say();
  ASSERT_TRUE(renewed.come());
  EXPECT_TRUE(test::eventually([&] { return !server.ask({"PUBSUB", "SHARDCHANNELS"}).items.empty(); }))
      << "it is not opened again";
  broken.say();
  EXPECT_TRUE(with_few.ends_well());
}

TEST_F(redis_limits, keeps_locks_when_the_server_accepts_no_client) {
  watched_client one(server.url());
  std::vector<lease> held;
  held.push_back(one.store.acquire("a", {.ttl = ttl_in_need}));
  EXPECT_EQ(server.ask({"CONFIG", "SET", "maxclients", "1"}).text, "OK");
  EXPECT_TRUE(are_held_for_long(held));
}

runtime::task<bool> look_in() { co_return true; }

TEST(redis_sentinel_limits, listens_once_a_thread_can_start) {
  test::redis_group all({.replicas = 0, .sentinels = 1});
  const words heard;
  test::child with_none([&] {
    const redis::dialer dialer{redis::settings::parse(all.url())};
    runtime::loop loop;
    runtime::task_group tasks(loop);
    test::deaf_listener listener;
    redis::sentinel_watch watch(dialer, loop, listener);
    loop.start();
    HOLDFAST_SHOULD(set_limit(RLIMIT_NPROC, 1) && become_unique_user());
    watch.start();
    HOLDFAST_SHOULD(test::get(test::start(tasks, look_in())));  // the watch has tried by now
    HOLDFAST_SHOULD(set_limit(RLIMIT_NPROC, 100));
    return heard.come();
  });
  const auto subscribers = [&] { return all.sentinel(0).ask({"CLIENT", "LIST", "TYPE", "PUBSUB"}).text; };
  EXPECT_TRUE(test::eventually([&] { return subscribers().find(" sub=3 ") != std::string::npos; })) << subscribers();
  heard.say();
  EXPECT_TRUE(with_none.ends_well());
}

}  // namespace
}  // namespace holdfast::faults
