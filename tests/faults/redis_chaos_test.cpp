// Everything at once: processes that are stopped and killed, connections that are cut, a server that is killed, paused
// and told to forget. What must hold is looked at from outside, by the resource that the lock protects.
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <random>

#include "faults/redis_chaos.hpp"
#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

/// A client in a process of its own.
class member {
 public:
  explicit member(const std::string& url) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    socket_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    std::string program = HOLDFAST_CHAOS_CLIENT, argument = url;
    char* words[] = {program.data(), argument.data(), nullptr};
    const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failed != 0) throw std::runtime_error(program);
  }
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  ~member() {
    kill();
    ::close(socket_);
  }
  [[nodiscard]] int socket() const noexcept { return socket_; }
  [[nodiscard]] bool over() const noexcept { return pid_ < 0; }
  void signal(int number) const {
    if (!over()) ::kill(pid_, number);
  }
  void kill() {
    if (over()) return;
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  /// True: it has ended.
  bool reap(int how) {
    if (over()) return true;
    int status = 0;
    if (::waitpid(pid_, &status, how) != pid_) return false;
    clean_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    pid_ = -1;
    return true;
  }
  [[nodiscard]] bool ended_well() const noexcept { return clean_; }

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
  bool clean_ = false;
};

/// The counter, its fence gate, and an eye on who is inside.
class resource {
 public:
  explicit resource(bool exclusive) : exclusive_(exclusive) {}

  chaos_reply serve(const member* from, const chaos_request& r) {
    const std::int64_t now = boot_clock::now().time_since_epoch().count();
    switch (r.what) {
      case chaos_request::next: return {0, !ending};
      case chaos_request::enter: enter(from, r, now); return {0, true};
      case chaos_request::leave: inside_.erase(from); return {0, true};
      case chaos_request::read: {
        if (inside_.contains(from)) inside_[from] = std::max(inside_[from], r.deadline);
        return {value_, admit(r.fence)};
      }
      case chaos_request::write: {
        if (!admit(r.fence)) return {0, false};
        EXPECT_EQ(r.value, value_ + 1) << "an update was lost";
        value_ = r.value;
        return {value_, true};
      }
    }
    return {};
  }
  void gone(const member* m) { inside_.erase(m); }

  bool ending = false;
  [[nodiscard]] std::int64_t value() const noexcept { return value_; }
  [[nodiscard]] int entries() const noexcept { return entries_; }
  [[nodiscard]] int refused() const noexcept { return refused_; }

 private:
  void enter(const member* from, const chaos_request& r, std::int64_t now) {
    ++entries_;
    if (now < r.deadline) {  // else it was stopped between the grant and this, and knows better by now
      // Where the server forgets, one that held it before may enter after one that holds it since.
      for (const auto& [other, deadline] : inside_) {
        if (!exclusive_) break;
        EXPECT_GE(now, deadline) << "two hold it, both before their deadline";
      }
      if (exclusive_) {
        EXPECT_GT(r.fence, last_entered_) << "a fence went back";
      }
      last_entered_ = std::max(last_entered_, r.fence);
    }
    inside_[from] = r.deadline;
  }
  bool admit(std::uint64_t fence) {
    if (fence < top_) {
      ++refused_;
      return false;
    }
    top_ = fence;
    return true;
  }
  const bool exclusive_;
  std::map<const member*, std::int64_t> inside_;  // until when
  std::uint64_t top_ = 0, last_entered_ = 0;
  std::int64_t value_ = 0;
  int entries_ = 0, refused_ = 0;
};

class chaos {
 public:
  chaos(test::redis_server& server, bool exclusive) : server_(server), resource_(exclusive) {
    for (int n = 0; n < 6; ++n) hire();
  }

  /// `what` is one fault; it is called every 30 ms or so.
  template <class Fault>
  void rage(std::chrono::seconds length, Fault what) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
      serve(std::chrono::milliseconds(10 + choices_() % 40));
      what(*this);
    }
    for (const auto& m : members_) m->signal(SIGCONT);
    resource_.ending = true;
    const auto patience = std::chrono::steady_clock::now() + test::hang;
    while (!all_over() && std::chrono::steady_clock::now() < patience) serve(5ms);
    for (const auto& m : members_) EXPECT_TRUE(m->ended_well()) << "a client failed or hangs";
  }

  [[nodiscard]] std::uint64_t choose(std::uint64_t below) { return choices_() % below; }
  test::redis_server& server() { return server_; }
  member& anyone() { return *members_[choose(members_.size())]; }
  void replace(member& m) {
    resource_.gone(&m);
    std::erase_if(members_, [&](const auto& each) { return each.get() == &m; });
    hire();
  }
  void stop_for_a_while(member& m) {
    m.signal(SIGSTOP);
    serve(std::chrono::milliseconds(choose(900)));
    m.signal(SIGCONT);
  }
  [[nodiscard]] const resource& counter() const noexcept { return resource_; }

 private:
  void hire() { members_.push_back(std::make_unique<member>(server_.url("timeout=250ms&connect_timeout=500ms"))); }

  bool all_over() {
    bool all = true;
    for (const auto& m : members_) all = m->reap(WNOHANG) && all;
    return all;
  }

  void serve(std::chrono::milliseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left <= 0ms) return;
      std::vector<pollfd> all;
      for (const auto& m : members_) all.push_back({m->over() ? -1 : m->socket(), POLLIN, 0});
      ::poll(all.data(), all.size(), static_cast<int>(left.count()));
      for (std::size_t n = 0; n < all.size(); ++n) {
        if ((all[n].revents & POLLIN) == 0) continue;
        chaos_request r;
        if (::recv(all[n].fd, &r, sizeof r, MSG_DONTWAIT) != sizeof r) continue;
        const chaos_reply reply = resource_.serve(members_[n].get(), r);
        ::send(all[n].fd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      if (std::all_of(members_.begin(), members_.end(), [](const auto& m) { return m->over(); })) return;
    }
  }

  test::redis_server& server_;
  resource resource_;
  std::vector<std::unique_ptr<member>> members_;
  std::mt19937_64 choices_{20'261'115};
};

void one_fault(chaos& all) {
  switch (all.choose(12)) {
    case 0: all.stop_for_a_while(all.anyone()); break;
    case 1: all.replace(all.anyone()); break;  // kill -9
    case 2: (void)all.server().ask({"CLIENT", "KILL", "TYPE", "normal"}); break;
    case 3: (void)all.server().ask({"CLIENT", "KILL", "TYPE", "pubsub"}); break;
    case 4: (void)all.server().ask({"SCRIPT", "FLUSH"}); break;
    case 5: (void)all.server().ask({"CLIENT", "PAUSE", "100", "ALL"}); break;
    case 6: (void)all.server().ask({"DEBUG", "SLEEP", "0.05"}); break;
    default: break;
  }
}

void report(const chaos& all) {
  std::printf("%d holders, %lld updates, %d refused by the fence\n", all.counter().entries(),
              static_cast<long long>(all.counter().value()), all.counter().refused());
  EXPECT_GT(all.counter().entries(), 100) << "a quiet run shows nothing";
}

TEST(redis_chaos, with_a_server_that_keeps_its_data_never_lets_two_in_and_loses_no_update) {
  test::redis_server server({"--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command", "yes"});
  chaos all(server, true);
  all.rage(8s, [](chaos& c) {
    if (c.choose(40) == 0) {
      c.server().kill();
      c.server().start();
    } else {
      one_fault(c);
    }
  });
  report(all);
  EXPECT_TRUE(test::eventually([&] { return server.keys("*{chaos}").empty() && server.keys("*{chaos}:q").empty(); }))
      << "something is left behind";
}

TEST(redis_chaos, with_a_server_that_restarts_empty_loses_no_update_that_has_a_fence) {
  test::redis_server server({"--enable-debug-command", "yes"});
  chaos all(server, false);
  all.rage(8s, [](chaos& c) {
    const std::uint64_t what = c.choose(40);
    if (what == 0) {
      c.server().kill();
      c.server().start();
    } else if (what == 1) {
      (void)c.server().ask({"FLUSHALL"});
    } else {
      one_fault(c);
    }
  });
  report(all);
}

}  // namespace
}  // namespace holdfast::faults
