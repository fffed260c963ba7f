#include "directory/lookout.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "runtime/fork.hpp"

namespace holdfast::directory {

// Without inotify (no watches are left, say) a replaced file is still found out by the next call that writes.
lookout::lookout(const folder& in, runtime::loop& loop)
    : loop_(loop), events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (events_.get() < 0) return;
  ::inotify_add_watch(events_.get(), in.path().c_str(), IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF);
  runtime::close_in_children(events_.get());
  loop_.watch(events_.get(), [this] { read(); });
}

lookout::~lookout() {
  loop_.unwatch(events_.get());
  runtime::forget_in_children(events_.get());
}

void lookout::report_to(std::function<void()> doubt) {
  doubt_.with([&](auto& to) { to = std::move(doubt); });
}

void lookout::read() {
  alignas(inotify_event) std::array<char, 4096> events;
  while (::read(events_.get(), events.data(), events.size()) > 0) {
  }
  doubt_.with([](const auto& to) {
    if (to) to();
  });
}

}  // namespace holdfast::directory
