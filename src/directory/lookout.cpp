#include "directory/lookout.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "runtime/fork.hpp"

namespace holdfast::directory {

// Where there is no inotify (no watches are left, say) we are always in doubt, and whoever writes looks at the files.
lookout::lookout(const folder& in, runtime::loop& loop)
    : loop_(loop), events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (events_.get() < 0) return;
  runtime::close_in_children(events_.get());
  loop_.watch(events_.get(), [this] { look(); });
  const auto what = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
  works_ = ::inotify_add_watch(events_.get(), in.path().c_str(), what) >= 0;
}

lookout::~lookout() {
  if (events_.get() < 0) return;
  loop_.unwatch(events_.get());
  runtime::forget_in_children(events_.get());
}

void lookout::report_to(std::function<void()> whom) {
  whom_.with([&](auto& to) { to = std::move(whom); });
}

bool lookout::in_doubt() noexcept {
  look();
  return doubt_;
}

void lookout::look() noexcept {
  alignas(inotify_event) std::array<char, 4096> events;
  bool any = false;
  while (events_.get() >= 0 && ::read(events_.get(), events.data(), events.size()) > 0) any = true;
  if (!any) return;
  doubt_ = true;
  whom_.with([](const auto& to) {
    if (to) to();
  });
}

}  // namespace holdfast::directory
