#include "net/ready.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "runtime/clock.hpp"
#include "runtime/descriptor.hpp"

namespace holdfast::net {

namespace {

/// A descriptor that becomes readable when the token is stopped.
class stop_line {
 public:
  explicit stop_line(const std::stop_token& stop)
      : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, ring{bell_.get()}) {}
  /// Negative if no descriptor was left: poll() ignores it, and the wait ends at its limit only.
  [[nodiscard]] int fd() const noexcept { return bell_.get(); }

 private:
  struct ring {
    int fd;
    void operator()() const noexcept {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t sent = ::write(fd, &one, sizeof one);
    }
  };
  const runtime::descriptor bell_;
  const std::stop_callback<ring> callback_;
};

readiness wait(int fd, short what, const limit& l) {
  if (l.stop().stop_requested()) return readiness::stopped;
  std::optional<stop_line> stop;
  if (l.stop().stop_possible()) stop.emplace(l.stop());
  pollfd both[2] = {{fd, what, 0}, {stop ? stop->fd() : -1, POLLIN, 0}};
  for (;;) {
    timespec relative{};
    const bool forever = l.at() == runtime::never;
    if (!forever) {
      const runtime::span left = std::max(l.at() - boot_clock::now(), runtime::span::zero());
      relative.tv_sec = left.count() / 1'000'000'000;
      relative.tv_nsec = left.count() % 1'000'000'000;
    }
    const int n = ::ppoll(both, 2, forever ? nullptr : &relative, nullptr);
    if (n > 0) return both[0].revents != 0 ? readiness::ready : readiness::stopped;
    if (n == 0 && boot_clock::now() >= l.at()) return readiness::late;
    if (n < 0 && errno != EINTR && errno != EAGAIN) return readiness::late;  // out of kernel memory
  }
}

}  // namespace

readiness wait_readable(int fd, const limit& l) { return wait(fd, POLLIN, l); }
readiness wait_writable(int fd, const limit& l) { return wait(fd, POLLOUT, l); }

}  // namespace holdfast::net
