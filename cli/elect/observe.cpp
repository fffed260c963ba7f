#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <holdfast/election.hpp>
#include <mutex>
#include <optional>
#include <thread>

#include "elect/elect.hpp"
#include "exit_code.hpp"
#include "holding/status.hpp"
#include "process/flag.hpp"
#include "process/outbox.hpp"
#include "text/printable.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// Watches an election, in a thread that leaves signals to others.
class watcher {
 public:
  watcher(const elect_options& o, outbox& to)
      : options_(o.run.hold),
        to_(to),
        store_(options_.store.open({}, options_.quiet)),
        at_(store_, options_.names.front()) {}

  /// Until it is asked to stop. Throws lock_error.
  void watch(std::stop_token stop) {
    for (auto pause = 1s; !stop.stop_requested(); pause = std::min(pause * 2, std::chrono::seconds(30))) {
      try {
        leaders seen = at_.observe();
        pause = 1s;
        do tell(seen.current());
        while (seen.wait_for_change(until(stop)));
      } catch (const lock_error& e) {
        if (code_of(e) != unreachable) throw;
        if (!options_.quiet) say_in_words(std::string(e.what()) + "; looking again");
        std::unique_lock lock(mutex_);
        (void)asked_.wait_for(lock, stop, pause, [] { return false; });
      }
    }
  }
  /// A question that the store does not answer is not waited for.
  void hang_up() noexcept { store_.close(); }

 private:
  void tell(const std::optional<leader>& now) {
    if (told_ && *told_ == now) return;
    told_ = now;
    const std::string& name = options_.names.front();
    if (options_.status_fd < 0) {
      to_.put(now ? std::to_string(now->fence) + " " + printable(now->label) + "\n" : "nobody\n");
    } else if (now) {
      to_.put(status::line("leader", {{"name", name}, {"fence", now->fence}, {"label", now->label}}));
    } else {
      to_.put(status::line("nobody", {{"name", name}}));
    }
  }

  const hold_options& options_;
  outbox& to_;
  store store_;
  election at_;
  std::optional<std::optional<leader>> told_;
  std::mutex mutex_;
  std::condition_variable_any asked_;
};

}  // namespace

int observe(const elect_options& o) {
  caught_signals signals;
  outbox out(o.run.hold.status_fd >= 0 ? o.run.hold.status_fd : STDOUT_FILENO);
  watcher one(o, out);
  const flag over;
  std::exception_ptr why;
  std::jthread watching([&](std::stop_token stop) {
    try {
      one.watch(std::move(stop));
    } catch (const std::exception&) {
      why = std::current_exception();
    }
    over.set();
  });
  bool reads = true, ended = false;
  while (reads && signals.asked_to_stop() == 0 && !(ended && out.empty())) {
    pollfd all[] = {{signals.fd(), POLLIN, 0}, {ended ? -1 : over.fd(), POLLIN, 0}, out.news(), out.reader()};
    ::poll(all, 4, -1);
    ended = ended || all[1].revents != 0;
    reads = out.write(all[3]);
  }
  watching.request_stop();
  one.hang_up();
  watching.join();
  if (ended && why) std::rethrow_exception(why);
  const int by = signals.asked_to_stop();
  return by != 0 ? by_signal + by : int{fine};
}

}  // namespace holdfast::cli
