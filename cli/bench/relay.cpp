#include "bench/relay.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <holdfast/holdfast.hpp>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::cli {

/// What all three processes see.
struct relay::board {
  counting when{};
  std::atomic<std::int64_t> held{0};      // for how long, in nanoseconds
  std::atomic<std::int64_t> released{0};  // when, on the boot clock
  std::atomic<int> holder{-1};            // the last one
  std::array<histogram, 2> times{};       // each player's own
  std::atomic<int> error{0};              // errc of the first that failed; 0: none
  std::array<char, 512> why{};
};

relay::board& relay::shared_board() {
  void* const page = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return *new (page) board;
}

relay::relay(std::string url, std::string name)
    : url_(std::move(url)), name_(std::move(name)), board_(shared_board()), go_(make_pipe()) {
  const pid_t parent = ::getpid();
  for (std::size_t me = 0; me < players_.size(); ++me) {
    players_[me] = ::fork();
    if (players_[me] < 0) {
      const int why = errno;
      go_.write.reset();
      wait();
      throw std::system_error(why, std::generic_category(), "fork");
    }
    if (players_[me] > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) run(me);
    ::_exit(0);
  }
  go_.read.reset();
}

relay::~relay() {
  board_.when.over = true;
  go_.write.reset();  // who was not called upon goes
  wait();
  ::munmap(&board_, sizeof(board));
}

void relay::wait() noexcept {
  for (pid_t& each : players_) {
    if (each > 0) ::waitpid(each, nullptr, 0);
    each = 0;
  }
}

/// The keys of the terminal reach this process, too, but are not heard: the parent says when it is over.
void relay::run(std::size_t me) noexcept {
  go_.write.reset();
  char word = 0;
  ssize_t n = 0;
  do n = ::read(go_.read.get(), &word, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) return;
  int error = 0;
  try {
    play(me);
  } catch (const lock_error& e) {
    error = e.code().value();
    if (board_.error == 0) std::strncpy(board_.why.data(), e.what(), board_.why.size() - 1);
  } catch (const std::exception&) {
    error = static_cast<int>(errc::unreachable);
  }
  if (error == 0) return;
  int none = 0;
  board_.error.compare_exchange_strong(none, error);
  failed_.set();
}

void relay::play(std::size_t me) {
  const auto number = static_cast<int>(me);
  store s = open(url_);
  while (!board_.when.over) {
    lease mine = s.acquire(name_, {.label = "holdfast bench"});
    const std::int64_t got = boot_clock::now().time_since_epoch().count();
    const bool handed = board_.holder.exchange(number) != number;
    if (handed && board_.when.counts) board_.times[me].add(std::chrono::nanoseconds(got - board_.released));
    std::this_thread::sleep_for(std::chrono::nanoseconds(board_.held));
    board_.released = boot_clock::now().time_since_epoch().count();
    mine.release();
  }
}

void relay::measure(std::chrono::nanoseconds held, stopwatch& watch, measurement& m) {
  board_.held = held.count();
  [[maybe_unused]] const ssize_t told = ::write(go_.write.get(), "!!", 2);
  m.counted = watch.run(m.part, board_.when, failed_);
  wait();
  for (const histogram& each : board_.times) m.times.add(each);
  if (board_.error != 0) throw lock_error(static_cast<errc>(board_.error.load()), name_, board_.why.data());
}

}  // namespace holdfast::cli
