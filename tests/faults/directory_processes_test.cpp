// Processes that are stopped, killed or forked at the wrong moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include "faults/directory_store.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;

/// A process that is stopped in the middle of a write, with the writer's byte locked.
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

TEST(directory_processes, are_named_after_patience_when_stopped_in_a_write) {
  const directory_store d;
  (void)d.open();
  store s = d.open({.patience = 50ms});
  const stopped_writer writer(d);
  const auto [code, text] = failure_of([&] { (void)s.acquire("a"); });
  EXPECT_EQ(code, errc::unreachable) << text;
  EXPECT_TRUE(contains(text, "process " + std::to_string(writer.pid()))) << text;
  EXPECT_TRUE(contains(text, "stopped in the middle of a write")) << text;
}

TEST(directory_processes, delay_others_only_while_stopped_in_a_write) {
  const directory_store d;
  store s = d.open();
  const stopped_writer writer(d);
  auto waiter = std::async(std::launch::async, [&] { return s.acquire("a").held(); });
  writer.go_on();
  EXPECT_TRUE(test::get(std::move(waiter)));
}

/// Returns the number of waiting writers according to the file.
std::uint64_t waiting_writers(const directory_store& d) {
  struct {
    std::uint64_t next, served;
  } tickets{};
  std::ifstream file(d.file("writers"), std::ios::binary);
  file.seekg(16);
  file.read(reinterpret_cast<char*>(&tickets), sizeof tickets);
  return tickets.next - tickets.served;
}

TEST(directory_processes, stopped_in_a_write_keep_the_limits_of_other_callers) {
  const directory_store d;
  store s = d.open({.patience = test::hang});
  const stopped_writer writer(d);
  auto patient = std::async(std::launch::async, [&] { return s.acquire("a").held(); });
  ASSERT_TRUE(test::eventually([&] { return waiting_writers(d) != 0; }));
  std::error_code why;
  EXPECT_FALSE(s.try_acquire("b", within(50ms), {}, why));
  EXPECT_FALSE(why);
  EXPECT_NE(patient.wait_for(0s), std::future_status::ready) << "the second call had to wait for the first";
  writer.go_on();
  EXPECT_TRUE(test::get(std::move(patient)));
}

TEST(directory_processes, stopped_in_a_write_keep_the_limits_of_async_callers) {
  const directory_store d;
  store s = d.open({.patience = test::hang});
  const stopped_writer writer(d);
  std::promise<std::error_code> patient, hasty;
  const auto tell = [](std::promise<std::error_code>& to) {
    return [&to](std::error_code why, std::optional<lease> got) {
      got.reset();  // closes the store before the next test forks
      to.set_value(why);
    };
  };
  s.async_try_acquire("a", within(test::hang), {}, tell(patient));
  s.async_try_acquire("b", within(50ms), {}, tell(hasty));
  std::future<std::error_code> first = patient.get_future();
  EXPECT_EQ(test::get(hasty.get_future()), std::error_code());
  EXPECT_NE(first.wait_for(0s), std::future_status::ready) << "the second call had to wait for the first";
  writer.go_on();
  EXPECT_EQ(test::get(std::move(first)), std::error_code());
}

/// A child that reports when it is ready, and runs until it is killed.
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

TEST(directory_processes, free_their_locks_when_killed_although_a_child_lives_on) {
  const directory_store d;
  int stay[2];
  ASSERT_EQ(::pipe(stay), 0);
  const standing_child holder([&](const auto& ready) {
    store s = d.open();
    const lease held = s.acquire("a");
    if (::fork() == 0) {  // inherits copies of its parent's descriptors, which must not keep the lock
      ::close(stay[1]);
      ready();
      char end = 0;
      [[maybe_unused]] const ssize_t over = ::read(stay[0], &end, 1);  // until the test ends
      ::_exit(0);
    }
    ::close(stay[1]);
    ::pause();
  });
  store s = d.open();
  EXPECT_FALSE(s.try_acquire("a"));
  holder.kill();
  EXPECT_TRUE(s.try_acquire("a", within(test::hang)));
  ::close(stay[0]);
  ::close(stay[1]);
}

TEST(directory_processes, leave_no_locks_behind_when_killed) {
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

TEST(directory_processes, keep_their_locks_after_a_fork_and_the_child_has_none) {
  const directory_store d;
  store s = d.open();
  lease held = s.acquire("a");
  test::child other([&] {
    HOLDFAST_SHOULD(!held.held());
    HOLDFAST_SHOULD(held.release() == released::unknown);
    // The child has a copy of SQLite's memory, which describes locks of the parent.
    const auto [code, text] = failure_of([&] { (void)d.open(); });
    HOLDFAST_SHOULD(code == errc::forked);
    return contains(text, "let the child exec");
  });
  EXPECT_TRUE(other.ends_well());
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(d.open().try_acquire("a"));
  EXPECT_EQ(held.release(), released::yes);
}

TEST(directory_processes, may_open_a_store_on_both_sides_of_an_earlier_fork) {
  const directory_store d;
  (void)d.open().acquire("a");
  test::child other([&] { return d.open().try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(other.ends_well());
  EXPECT_TRUE(d.open().try_acquire("a", within(test::hang)));
}

TEST(directory_processes, may_fork_after_a_failed_open) {
  const directory_store d;
  {
    const store s = d.open();
  }
  std::ofstream(d.file("fences")) << "holdfast 1 another-boot 1\n";
  std::filesystem::create_directory(d.file("fences.new"));  // prevents writing that they are of this boot now
  const auto count_open = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = count_open();
  EXPECT_EQ(failure_of([&] { (void)d.open(); }).first, errc::not_ready);
  EXPECT_EQ(count_open(), before);
  std::filesystem::remove(d.file("fences.new"));
  test::child other([&] { return d.open().try_acquire("a").has_value(); });
  EXPECT_TRUE(other.ends_well());
}

}  // namespace
}  // namespace holdfast::faults
