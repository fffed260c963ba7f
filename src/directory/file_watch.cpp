#include "directory/file_watch.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

constexpr unsigned checks_per_refresh = 300;

/// Returns true if another change of the directory would get another time. The kernel's clock for files ticks every 10
/// ms or faster, and file systems that keep whole seconds every two seconds or faster.
bool has_ticked_since(const timespec& change) {
  const auto when = std::chrono::seconds(change.tv_sec) + std::chrono::nanoseconds(change.tv_nsec);
  return system_clock::now().time_since_epoch() > when + (change.tv_nsec == 0 ? 3s : 100ms);
}

}  // namespace

void opened_files::check() const {
  (void)folder_.check();
  check_each();
}

// If the clock is set back, a change may seem to be in the future. Then every call checks each file.
void opened_files::check_if_changed() {
  const timespec changed = folder_.check();
  if (changed.tv_sec == checked_.tv_sec && changed.tv_nsec == checked_.tv_nsec) return;
  checked_.tv_nsec = -1;
  check_each();
  if (has_ticked_since(changed)) checked_ = changed;
}

void opened_files::check_each() const {
  for (const auto& [name, opened] : all_) folder_.check(name, opened);
}

file_watch::file_watch(std::function<void()> check, std::function<void()> refresh, runtime::loop& loop)
    : check_(std::move(check)),
      refresh_(std::move(refresh)),
      loop_(loop),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create") {
  loop_.watch(timer_.get(), [this] { this->check(); });
}

file_watch::~file_watch() { loop_.unwatch(timer_.get()); }

void file_watch::begin() noexcept {
  if (begun_.exchange(true)) return;
  const itimerspec every{{2, 0}, {2, 0}};
  ::timerfd_settime(timer_.get(), 0, &every, nullptr);
}

void file_watch::when_failed(std::function<void()> reaction) {
  reaction_.with([&](auto& to) { to = std::move(reaction); });
}

void file_watch::check() noexcept {
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(timer_.get(), &times, sizeof times);
  try {
    if (checks_++ % checks_per_refresh == 0) refresh_();
    check_();
  } catch (...) {
    reaction_.with([](const auto& reaction) {
      if (reaction) reaction();
    });
  }
}

}  // namespace holdfast::directory
