#include "bench/parts.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <holdfast/holdfast.hpp>
#include <holdfast/limit.hpp>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/raw.hpp"
#include "hold/acquisition.hpp"
#include "text/table.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto a_picture = 50ms;  // between updates of the progress bar

}  // namespace

std::chrono::duration<double> stopwatch::run(const std::string& part, counting& w, const flag& failed) {
  std::optional<progress> bar;
  if (live_) bar.emplace(part, 100, "%");
  const auto warm_up = std::clamp<milliseconds>(time_ / 10, 5ms, 1s);
  boot_clock::time_point began = boot_clock::now(), end = began + warm_up;
  for (bool early = false; !early;) {
    const auto now = boot_clock::now();
    if (now >= end && w.counts) break;
    if (now >= end) {
      w.counts = true;
      began = now;
      end = began + time_;
    }
    if (bar && w.counts) bar->show(static_cast<int>(100 * (now - began) / time_));
    pollfd both[] = {{signals_.fd(), POLLIN, 0}, {failed.fd(), POLLIN, 0}};
    const auto nap = std::min(a_picture, std::chrono::ceil<milliseconds>(end - now));
    ::poll(both, 2, static_cast<int>(nap.count()));
    early = signals_.asked_to_stop() != 0 || both[1].revents != 0;
  }
  w.over = true;
  return w.counts ? boot_clock::now() - began : boot_clock::duration(0);
}

namespace {

histogram repeat(const operation& once, const counting& w, const std::stop_token& stop) {
  histogram times;
  while (!w.over) {
    const bool counts = w.counts;
    const auto began = boot_clock::now();
    if (once(stop) && counts) times.add(boot_clock::now() - began);
  }
  return times;
}

/// Stops the threads on every path.
struct closing {
  counting& w;
  std::stop_source& stop;
  stopwatch& watch;
  bool regular = false;
  ~closing() {
    w.over = true;
    // Normally all threads finish their operation, since the longest ones count too.
    if (!regular || watch.stopped_by() != 0) stop.request_stop();
  }
};

}  // namespace

void measure_in_threads(unsigned threads, const std::function<operation(unsigned me)>& operation_of, stopwatch& watch,
                        measurement& m) {
  counting w;
  flag failed;
  std::stop_source stop;
  std::mutex mutex;
  std::exception_ptr why;
  const auto work = [&](unsigned me) {
    try {
      const histogram mine = repeat(operation_of(me), w, stop.get_token());
      const std::lock_guard lock(mutex);
      m.times.add(mine);
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex);
      if (!why) why = std::current_exception();
      failed.set();
    }
  };
  {
    std::vector<std::jthread> all;
    closing at_the_end{w, stop, watch};
    for (unsigned me = 0; me < threads; ++me) all.emplace_back(work, me);
    m.counted = watch.run(m.part, w, failed);
    at_the_end.regular = true;
  }
  if (why) std::rethrow_exception(why);
}

/// Shared by the parent and both players.
struct relay::shared_state {
  counting when{};
  std::atomic<std::int64_t> held{0};      // how long to hold the lock, in nanoseconds
  std::atomic<std::int64_t> released{0};  // when, on the boot clock
  std::atomic<int> holder{-1};            // the last one
  std::array<histogram, 2> times{};       // one per player
  std::atomic<int> error{0};              // errc of the first failure; 0: none
  std::array<char, 512> why{};
};

relay::shared_state& relay::make_shared_state() {
  void* const page = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return *new (page) shared_state;
}

relay::relay(std::string url, std::string name)
    : url_(std::move(url)), name_(std::move(name)), shared_(make_shared_state()), go_(make_pipe()) {
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
  shared_.when.over = true;
  go_.write.reset();  // players that were not started exit
  wait();
  ::munmap(&shared_, sizeof(shared_state));
}

void relay::wait() noexcept {
  for (pid_t& each : players_) {
    if (each > 0) ::waitpid(each, nullptr, 0);
    each = 0;
  }
}

/// Terminal signals reach this process too, but are ignored; the parent decides when to stop.
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
    if (shared_.error == 0) std::strncpy(shared_.why.data(), e.what(), shared_.why.size() - 1);
  } catch (const std::exception&) {
    error = static_cast<int>(errc::unreachable);
  }
  if (error == 0) return;
  int none = 0;
  shared_.error.compare_exchange_strong(none, error);
  failed_.set();
}

void relay::play(std::size_t me) {
  const auto number = static_cast<int>(me);
  store s = open(url_);
  while (!shared_.when.over) {
    lease mine = s.acquire(name_, {.label = "holdfast bench"});
    const std::int64_t got = boot_clock::now().time_since_epoch().count();
    const bool handed = shared_.holder.exchange(number) != number;
    if (handed && shared_.when.counts) shared_.times[me].add(std::chrono::nanoseconds(got - shared_.released));
    std::this_thread::sleep_for(std::chrono::nanoseconds(shared_.held));
    shared_.released = boot_clock::now().time_since_epoch().count();
    mine.release();
  }
}

void relay::measure(std::chrono::nanoseconds held, stopwatch& watch, measurement& m) {
  shared_.held = held.count();
  [[maybe_unused]] const ssize_t written = ::write(go_.write.get(), "!!", 2);
  m.counted = watch.run(m.part, shared_.when, failed_);
  wait();
  for (const histogram& each : shared_.times) m.times.add(each);
  if (shared_.error != 0) throw lock_error(static_cast<errc>(shared_.error.load()), name_, shared_.why.data());
}

namespace {

constexpr lock_options bench_lock{.label = "holdfast bench"};

/// Acquires and releases the lock.
operation pair_of(store s, std::string name) {
  return [s, name](std::stop_token stop) mutable {
    std::optional<lease> held = s.try_acquire(name, until(std::move(stop)), bench_lock);
    if (!held) return false;
    if (held->release() == released::lost) throw lock_error(errc::lost, name, "it was lost while it was measured");
    return true;
  };
}

std::string several(unsigned threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

}  // namespace

measurement thread_parts::raw() {
  const raw_round_trip bare = raw_round_trip_of(store_, prefix_ + "raw");
  measurement m{.part = "raw", .what = bare.what};
  const auto once = [&](unsigned) {
    return [&](const std::stop_token&) {
      bare.once();
      return true;
    };
  };
  try {
    measure_in_threads(1, once, watch_, m);
  } catch (const std::runtime_error&) {  // if the store is unreachable, the other parts report it
    m.times = {};
  }
  return m;
}

measurement thread_parts::lock() {
  measurement m{.part = "lock", .what = "one thread: lock and unlock"};
  const std::string name = prefix_ + "lock";
  measure_in_threads(1, [&](unsigned) { return pair_of(store_, name); }, watch_, m);
  if (watch_.stopped_by() != 0) wait_until_forgotten(store_, name);
  return m;
}

measurement thread_parts::threads(unsigned n) {
  measurement m{.part = "threads", .what = several(n) + ", a name each: lock and unlock"};
  const auto name_of = [&](unsigned me) { return prefix_ + "threads/" + std::to_string(me); };
  const auto own = [&](unsigned me) { return pair_of(store_, name_of(me)); };
  measure_in_threads(n, own, watch_, m);
  for (unsigned me = 0; me < n && watch_.stopped_by() != 0; ++me) wait_until_forgotten(store_, name_of(me));
  return m;
}

measurement thread_parts::contention(unsigned n) {
  measurement m{.part = "contention", .what = several(n) + " at one name: wait, lock and unlock"};
  const std::string name = prefix_ + "contention";
  measure_in_threads(n, [&](unsigned) { return pair_of(store_, name); }, watch_, m);
  if (watch_.stopped_by() != 0) wait_until_forgotten(store_, name);
  return m;
}

measurement thread_parts::renew() {
  measurement m{.part = "renew", .what = "renewal of a lock that is held"};
  const std::string name = prefix_ + "renew";
  lease held = store_.acquire(name, bench_lock);
  const auto once = [&](unsigned) {
    return [&](const std::stop_token&) {
      if (!held.renew(bench_lock.ttl)) throw lock_error(errc::lost, name, "it was lost while it was measured");
      return true;
    };
  };
  measure_in_threads(1, once, watch_, m);
  return m;
}

}  // namespace holdfast::cli
