// Processes that are stopped, killed or forked at the wrong moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "faults/directory_store.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;

/// A process that stands still in the middle of a write: it has the writer's byte.
class stopped_writer {
 public:
  explicit stopped_writer(const directory_store& d) : pid_(::fork()) {
    if (pid_ != 0) {
      siginfo_t stopped{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED);
      return;
    }
    const int fd = ::open(d.file("writers").c_str(), O_RDWR);
    struct flock first{};
    first.l_type = F_WRLCK;
    first.l_whence = SEEK_SET;
    first.l_len = 1;
    const std::int64_t pid = ::getpid();
    const bool well = ::fcntl(fd, F_OFD_SETLKW, &first) == 0 && ::pwrite(fd, &pid, sizeof pid, 0) == sizeof pid;
    if (well) ::raise(SIGSTOP);
    ::_exit(0);
  }
  ~stopped_writer() {
    go_on();
    ::waitpid(pid_, nullptr, 0);
  }
  stopped_writer(const stopped_writer&) = delete;
  stopped_writer& operator=(const stopped_writer&) = delete;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void go_on() const { ::kill(pid_, SIGCONT); }

 private:
  pid_t pid_;
};

TEST(directory_processes, that_are_stopped_in_a_write_are_named_when_patience_is_over) {
  const directory_store d;
  (void)d.open();
  store s = d.open({.patience = 50ms});
  const stopped_writer writer(d);
  const auto [code, text] = failure_of([&] { (void)s.acquire("a"); });
  EXPECT_EQ(code, errc::unreachable) << text;
  EXPECT_TRUE(contains(text, "process " + std::to_string(writer.pid()))) << text;
  EXPECT_TRUE(contains(text, "stopped in the middle of a write")) << text;
}

TEST(directory_processes, that_are_stopped_in_a_write_delay_the_others_only_until_they_go_on) {
  const directory_store d;
  store s = d.open();
  const stopped_writer writer(d);
  auto waiter = std::async(std::launch::async, [&] { return s.acquire("a").held(); });
  writer.go_on();
  EXPECT_TRUE(test::get(std::move(waiter)));
}

TEST(directory_processes, that_are_stopped_in_a_write_do_not_make_many_callers_wait_one_after_another) {
  const directory_store d;
  store s = d.open({.patience = 300ms});
  const stopped_writer writer(d);
  const auto began = boot_clock::now();
  std::vector<std::future<std::error_code>> all;
  for (int k = 0; k < 100; ++k) {
    all.push_back(std::async(std::launch::async,
                             [&s, k] { return failure_of([&] { (void)s.acquire("a" + std::to_string(k)); }).first; }));
  }
  for (auto& each : all) EXPECT_EQ(test::get(std::move(each)), errc::unreachable);
  EXPECT_LT(boot_clock::now() - began, 100 * 300ms / 2) << "each waited for all before it";
}

/// Says one byte when it is there, and stays until it is killed.
template <class F>
class standing_child {
 public:
  explicit standing_child(F body) {
    if (::pipe(ends_) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ends_[1]);
      char ready = 0;
      if (::read(ends_[0], &ready, 1) != 1) throw std::runtime_error("the child did not get ready");
      return;
    }
    ::alarm(static_cast<unsigned>(test::hang.count()));
    body([&] {
      const char ready = '!';
      [[maybe_unused]] const ssize_t told = ::write(ends_[1], &ready, 1);
    });
    ::_exit(0);
  }
  ~standing_child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ends_[0]);
  }
  standing_child(const standing_child&) = delete;
  standing_child& operator=(const standing_child&) = delete;
  void kill() const { ::kill(pid_, SIGKILL); }

 private:
  int ends_[2]{};
  pid_t pid_ = -1;
};

TEST(directory_processes, that_are_killed_free_their_locks_though_their_children_live_on) {
  const directory_store d;
  const standing_child holder([&](const auto& ready) {
    store s = d.open();
    const lease held = s.acquire("a");
    if (::fork() == 0) {  // it has copies of all files of its parent, and must not keep its lock alive
      ::alarm(static_cast<unsigned>(test::hang.count()));
      ready();
      ::pause();
      ::_exit(0);
    }
    ::pause();
  });
  store s = d.open();
  EXPECT_FALSE(s.try_acquire("a"));
  holder.kill();
  EXPECT_TRUE(s.try_acquire("a", within(test::hang)));
}

TEST(directory_processes, that_are_killed_leave_no_rows_behind_for_those_who_come_later) {
  const directory_store d;
  {
    const standing_child holder([&](const auto& ready) {
      store s = d.open();
      std::vector<lease> held;
      for (int k = 0; k < 20; ++k) held.push_back(s.acquire("a" + std::to_string(k)));
      ready();
      ::pause();
    });
  }
  store s = d.open();
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(s.try_acquire("a" + std::to_string(k)));
}

TEST(directory_processes, that_fork_keep_their_locks_and_the_child_has_none) {
  const directory_store d;
  store s = d.open();
  lease held = s.acquire("a");
  test::child other([&] {
    HOLDFAST_SHOULD(!held.held());
    HOLDFAST_SHOULD(held.release() == released::unknown);
    store own = d.open();  // it may open the store itself
    HOLDFAST_SHOULD(!own.try_acquire("a"));
    return own.try_acquire("b").has_value();
  });
  EXPECT_TRUE(other.ends_well());
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(d.open().try_acquire("a"));
  EXPECT_EQ(held.release(), released::yes);
}

}  // namespace
}  // namespace holdfast::faults
