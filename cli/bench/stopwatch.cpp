#include "bench/stopwatch.hpp"

#include <poll.h>

#include <algorithm>
#include <holdfast/limit.hpp>
#include <optional>

#include "text/progress.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto a_picture = 50ms;  // how often the bar moves

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

}  // namespace holdfast::cli
