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

/// Work brings more work: of a call that is handed over, of a reply that is waited for. It is worth the while to do
/// that before the kernel is asked; but not for long, so that what came is heard.
constexpr int turns_in_a_row = 4;

}  // namespace

loop::loop()
    : io(false),
      epoll_(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"),
      nudge_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd") {
  for (const int fd : {timer_.get(), nudge_.get()}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLET;  // each nudge is told once, and need not be read
    wanted.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }
}

loop::~loop() { stop(); }

void loop::stop() noexcept {
  ending_ = true;
  nudge();
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
  const bool first = inbox_.with([&](resumptions& inbox) {
    const bool was_empty = inbox.empty();
    inbox.push(r);
    return was_empty;
  });
  if (first) nudge();
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
    work();
    if (!duty_.is_wanted()) {
      hear_and_sleep();
      continue;
    }
    id_ = std::thread::id();
    duty_.rest();
    id_ = std::this_thread::get_id();
  }
}

void loop::run_until(resumption& begin, signal& over) {
  if (!stand_in()) {
    io::run_until(begin, over);
    return duty_.rely_no_more();
  }
  post(begin);
  for (work(); !over.is_set(); work()) hear_and_sleep();
  stand_down();
}

/// False: another does our work.
bool loop::stand_in() {
  const duty::given how = duty_.stand_in();
  if (how == duty::given::instead) return false;
  if (how == duty::given::soon) {
    nudge();
    duty_.wait();
  }
  id_ = std::this_thread::get_id();
  return true;
}

void loop::stand_down() noexcept {
  id_ = std::thread::id();
  duty_.stand_down(!ready_.empty());
  // What was posted to us since we looked last. Whoever posts from now on finds nobody, and calls.
  const bool more = inbox_.with([](const resumptions& inbox) { return !inbox.empty(); });
  if (more) nudge();
}

void loop::work() {
  turn();
  for (int more = 1; more < turns_in_a_row && !ready_.empty(); ++more) turn();
}

void loop::turn() {
  const queue_thread::batch told_together;
  resumptions ours = std::exchange(ready_, {});
  resumptions theirs = inbox_.with([&](resumptions& inbox) { return std::exchange(inbox, {}); });
  while (const auto frame = ours.pop()) frame.resume();
  while (const auto frame = theirs.pop()) frame.resume();
  const instant at = now();
  while (const auto frame = timers_.pop_due(at)) frame.resume();
}

/// Most waits are over long before their limit: a date that is not due any more is left in the timer, and wakes us once
/// for nothing.
void loop::hear_and_sleep() {
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
    } else if (fd != nudge_.get()) {  // under the lock, so that unwatch() waits for it
      watched_.with([&](auto& all) {
        if (const auto at = all.find(fd); at != all.end()) at->second();
      });
    }
  }
}

void loop::nudge() noexcept {
  if (duty_.call()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t sent = ::write(nudge_.get(), &one, sizeof one);
}

}  // namespace holdfast::runtime
