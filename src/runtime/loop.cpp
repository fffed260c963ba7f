#include "runtime/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "runtime/random.hpp"
#include "runtime/thread.hpp"

namespace holdfast::runtime {

namespace {

/// Work that is ready often makes other work ready, for example when a reply resumes its caller. Doing that first saves
/// calls of epoll_wait; the bound keeps descriptors from waiting for long.
constexpr int rounds_before_poll = 4;

}  // namespace

loop::loop()
    : io(false),
      epoll_(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"),
      interrupt_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd") {
  for (const int fd : {timer_.get(), interrupt_.get()}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLET;  // each interrupt is reported once, and need not be read
    wanted.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }
}

loop::~loop() { stop(); }

void loop::stop() noexcept {
  ending_ = true;
  interrupt();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t loop::random() { return random_bits(); }

void loop::start() {
  std::call_once(started_, [this] { thread_ = start_thread("holdfast-loop", [this] { run(); }); });
}

void loop::post(resumption& r) noexcept {
  if (is_this_thread()) {
    ready_.push(r);
    return;
  }
  const bool first = posted_.with([&](resumptions& posted) {
    const bool was_empty = posted.empty();
    posted.push(r);
    return was_empty;
  });
  if (first) interrupt();
}

bool loop::offload(std::function<void()> job) {
  worker_.post(std::move(job));
  return true;
}

void loop::watch(int fd, std::function<void()> ready, interest in) {
  watched_.with([&](auto& all) { all[fd] = std::move(ready); });
  epoll_event wanted{};
  wanted.events = in == interest::hang_up ? EPOLLRDHUP : EPOLLIN;
  if (in != interest::readable) wanted.events |= EPOLLONESHOT;
  wanted.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
    watched_.with([&](auto& all) { all.erase(fd); });
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

void loop::watch_writable(int fd, bool on) noexcept {
  epoll_event wanted{};
  wanted.events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  wanted.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &wanted);
}

void loop::unwatch(int fd) noexcept {
  watched_.with([&](auto& all) {
    if (all.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  });
}

bool loop::is_this_thread() const noexcept { return id_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

void loop::run() {
  id_ = std::this_thread::get_id();
  while (!ending_) {
    run_ready();
    if (!ownership_.is_wanted()) {
      poll();
      continue;
    }
    id_ = std::thread::id();
    ownership_.yield();
    id_ = std::this_thread::get_id();
  }
}

void loop::run_until(resumption& begin, signal& over) {
  if (!acquire()) {
    io::run_until(begin, over);
    return ownership_.end_delegation();
  }
  post(begin);
  for (run_ready(); !over.is_set(); run_ready()) poll();
  release();
}

/// Returns false if another thread does our work.
bool loop::acquire() {
  const loop_ownership::acquired how = ownership_.acquire();
  if (how == loop_ownership::acquired::delegated) return false;
  if (how == loop_ownership::acquired::soon) {
    interrupt();
    ownership_.wait();
  }
  id_ = std::this_thread::get_id();
  return true;
}

void loop::release() noexcept {
  id_ = std::thread::id();
  ownership_.release(!ready_.empty());
  // Work may have been posted to us since the last look. A thread that posts from now on notifies the own thread.
  const bool more = posted_.with([](const resumptions& posted) { return !posted.empty(); });
  if (more) interrupt();
}

void loop::run_ready() {
  run_once();
  for (int more = 1; more < rounds_before_poll && !ready_.empty(); ++more) run_once();
}

void loop::run_once() {
  const queue_thread::batch wake_together;
  resumptions ours = std::exchange(ready_, {});
  resumptions theirs = posted_.with([&](resumptions& posted) { return std::exchange(posted, {}); });
  while (const auto frame = ours.pop()) frame.resume();
  while (const auto frame = theirs.pop()) frame.resume();
  const instant at = now();
  while (const auto frame = timers_.pop_due(at)) frame.resume();
}

/// Most waits end long before their limit. The timerfd is not set back for those: it fires once for nothing, which is
/// cheaper.
void loop::poll() {
  const bool may_sleep = ready_.empty();
  if (const instant first = timers_.first(); may_sleep && first < armed_) {
    const auto ns = std::max<span::rep>(first.time_since_epoch().count(), 1);  // zero would disarm it
    itimerspec at{};
    at.it_value.tv_sec = ns / 1'000'000'000;
    at.it_value.tv_nsec = ns % 1'000'000'000;
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
    armed_ = first;
  }
  epoll_event events[16];
  const int n = ::epoll_wait(epoll_.get(), events, 16, may_sleep ? -1 : 0);
  for (int i = 0; i < n; ++i) {
    const int fd = events[i].data.fd;
    if (fd == timer_.get()) {
      armed_ = never;
    } else if (fd != interrupt_.get()) {  // under the lock, so that unwatch() waits for the call
      watched_.with([&](auto& all) {
        if (const auto at = all.find(fd); at != all.end()) at->second();
      });
    }
  }
}

void loop::interrupt() noexcept {
  if (ownership_.notify()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t sent = ::write(interrupt_.get(), &one, sizeof one);
}

}  // namespace holdfast::runtime
