#include "directory/lookout.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <utility>

namespace holdfast::directory {

namespace {

constexpr unsigned checks_per_refresh = 300;

}  // namespace

lookout::lookout(std::function<void()> check, std::function<void()> refresh, runtime::loop& loop)
    : check_(std::move(check)),
      refresh_(std::move(refresh)),
      loop_(loop),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create") {
  loop_.watch(timer_.get(), [this] { look(); });
}

lookout::~lookout() { loop_.unwatch(timer_.get()); }

void lookout::begin() noexcept {
  if (begun_.exchange(true)) return;
  const itimerspec every{{2, 0}, {2, 0}};
  ::timerfd_settime(timer_.get(), 0, &every, nullptr);
}

void lookout::report_to(std::function<void()> whom) {
  whom_.with([&](auto& to) { to = std::move(whom); });
}

void lookout::look() noexcept {
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(timer_.get(), &times, sizeof times);
  try {
    if (checks_++ % checks_per_refresh == 0) refresh_();
    check_();
  } catch (...) {
    whom_.with([](const auto& to) {
      if (to) to();
    });
  }
}

}  // namespace holdfast::directory
