#include "directory/death_watch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::directory {

death_watch::death_watch(runtime::loop& l, const sessions& alive, std::int64_t pid_namespace,
                         const std::vector<process>& those, runtime::signal& waiter)
    : loop_(l), sessions_(alive) {
  watched_.reserve(those.size());
  for (const process& each : those) {
    if (each.session == sessions_.own()) continue;
    if (each.pid_namespace != pid_namespace || !watch(each, waiter)) unseen_.push_back(each.session);
  }
}

death_watch::~death_watch() {
  for (const runtime::descriptor& each : watched_) loop_.unwatch(each.get());
}

bool death_watch::watch(const process& p, runtime::signal& waiter) noexcept {
  try {
    runtime::descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(p.pid), 0)));
    // Only if it lives now is that pid its own, and not somebody's who got the same number later.
    if (!sessions_.alive(p.session)) {
      waiter.set();
      return true;
    }
    if (pidfd.get() < 0) return false;
    loop_.watch(pidfd.get(), [&waiter] { waiter.set(); }, runtime::loop::interest::readable_once);
    watched_.push_back(std::move(pidfd));  // there is room
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool death_watch::one_is_gone() const noexcept {
  try {
    return std::any_of(unseen_.begin(), unseen_.end(), [&](session_id each) { return !sessions_.alive(each); });
  } catch (const std::exception&) {
    return true;  // then whoever asks again hears what is wrong
  }
}

}  // namespace holdfast::directory
