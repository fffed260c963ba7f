#include "top/top.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "exit_code.hpp"
#include "list/list.hpp"
#include "options/values.hpp"
#include "process/signals.hpp"
#include "text/table.hpp"
#include "top/draw.hpp"
#include "top/model.hpp"

namespace holdfast::cli {

store_poller::store_poller(store s, std::string prefix, std::chrono::milliseconds interval)
    : store_(std::move(s)),
      prefix_(std::move(prefix)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

store_poller::~store_poller() {
  thread_.request_stop();
  store_.close();  // cancels requests
}

template <class Change>
void store_poller::tell(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(update_);
  }
  updated_.set();
}

store_poller::update store_poller::take() {
  updated_.take();
  const std::lock_guard lock(mutex_);
  return std::exchange(update_, {});
}

void store_poller::watch_details(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (detailed_ == name) return;
  detailed_ = name;
  poll_now_ = true;
  wanted_.notify_one();
}

void store_poller::ask(top_request r) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(r));
  wanted_.notify_one();
}

void store_poller::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!requests_.empty()) {
      const top_request next = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      const std::string done = perform(next);
      tell([&](update& n) { n.done = done; });
      lock.lock();
      poll_now_ = true;
    }
    if (poll_now_) {
      poll_now_ = false;
      const std::string detailed = detailed_;
      lock.unlock();
      try {
        if (!detailed.empty()) fetch_details(detailed);
        fetch_names(stop);
        tell([](update& n) { n.trouble = ""; });
      } catch (const std::exception& e) {
        tell([&](update& n) { n.trouble = e.what(); });
      }
      lock.lock();
    }
    wanted_.wait_for(lock, stop, interval_, [&] { return poll_now_ || !requests_.empty(); });
    if (requests_.empty()) poll_now_ = true;
  }
}

void store_poller::fetch_names(const std::stop_token& stop) {
  std::vector<listing::entry> all;
  for_each_page(store_, prefix_, [&](const std::vector<listing::entry>& page) {
    all.insert(all.end(), page.begin(), page.end());
    return !stop.stop_requested();
  });
  tell([&](update& n) { n.names = std::move(all); });
}

void store_poller::fetch_details(const std::string& name) {
  state seen = store_.inspect(name);
  tell([&](update& n) { n.details.emplace(name, std::move(seen)); });
}

std::string store_poller::perform(const top_request& r) {
  try {
    if (r.what == top_request::kind::revoke) {
      return store_.revoke(r.name, r.reason) ? "asked to let go of " + r.name : "it is not held";
    }
    const bool by_owner = r.from.fence == 0 || r.from.permits != 0;
    const bool taken = store_.break_lock(r.name, by_owner ? 0 : r.from.fence, r.reason, by_owner ? r.from.owner : "");
    return taken ? "taken by force: " + r.name : "the holder has changed; nothing is taken";
  } catch (const std::exception& e) {
    return e.what();
  }
}

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr auto shortest_refresh = 10ms;
constexpr int escape_key_patience = 50;  // ms to wait for the rest of an escape sequence

struct top_options {
  store_option store{};
  name_argument prefix{};
  milliseconds interval{1'000};
};

/// Connects model, screen, keys, signals and store.
class top_view {
 public:
  explicit top_view(const top_options& o)
      : poller_(o.store.open(), o.prefix.text(), o.interval) {
  }  // opened before the screen, so that errors are printed normally

  /// Returns the signal that ended it, or 0 if the user did.
  int go() {
    while (!model_.over() && ended_by_ == 0) {
      model_.set_page(names_in(screen_.size()));
      screen_.show(draw(model_, screen_.size(), style_, system_clock::now()));
      pollfd all[] = {{signals_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}, {poller_.fd(), POLLIN, 0}};
      const int ready = ::poll(all, 3, keys_.is_waiting() ? escape_key_patience : -1);
      if (ready == 0) press(keys_.give_up());
      if (ready <= 0) continue;
      if (all[0].revents != 0) handle_signals();
      if (all[1].revents != 0) read_keys();
      if (all[2].revents != 0) apply_update();
    }
    return ended_by_;
  }

 private:
  void handle_signals() {
    while (const int number = signals_.next()) {
      if (is_terminating(number) && !signals_.ignored(number)) ended_by_ = number;
      if (number == SIGTSTP) {
        screen_.leave();
        signals_.stop_process();
        screen_.enter();
      }
      if (number == SIGCONT) screen_.enter();  // after SIGSTOP, which cannot be caught to leave the screen
      if (number == SIGWINCH) screen_.forget();
    }
  }

  void read_keys() {
    char bytes[256];
    const ssize_t n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) press(keys_.take({bytes, static_cast<std::size_t>(n)}));
    const bool gone = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    if (gone) ended_by_ = SIGHUP;
  }

  void press(const std::vector<key>& pressed) {
    for (const key& each : pressed) {
      if (auto wanted = model_.press(each)) poller_.ask(std::move(*wanted));
    }
    poller_.watch_details(model_.details_of());
  }

  void apply_update() {
    store_poller::update is = poller_.take();
    if (is.names) model_.set_names(std::move(*is.names), system_clock::now());
    if (is.details) model_.set_details(is.details->first, std::move(is.details->second));
    if (is.trouble) model_.set_trouble(std::move(*is.trouble));
    if (is.done) model_.tell(std::move(*is.done));
  }

  caught_signals signals_;  // before any thread is started
  const style style_{stdout};
  top_model model_;
  key_reader keys_;
  store_poller poller_;
  screen screen_;
  int ended_by_ = 0;
};

int top(const top_options& o) {
  if (::isatty(STDIN_FILENO) != 1 || !style(stdout).live()) {
    std::fputs("holdfast: top needs a terminal to draw on; elsewhere use holdfast ls or holdfast watch\n", stderr);
    return usage;
  }
  int ended_by = 0;
  {
    top_view one(o);
    ended_by = one.go();
  }
  if (ended_by != 0) die_by_signal(ended_by);
  return fine;
}

}  // namespace

command_spec describe_top(const user_command&) {
  const auto wanted = std::make_shared<top_options>();
  return {.name = "top",
          .group = "look",
          .description = "Show locks and waiters live on the whole terminal",
          .examples = {{"holdfast top", "all that is held or waited for"},
                       {"holdfast top jobs/", "names with this prefix"}},
          .options = joined({wanted->prefix.prefix_rows(),
                             {wanted->store.row(),
                              {.names = "--interval",
                               .value = "D",
                               .help = "time between two looks at the store [1s]",
                               .into = &wanted->interval}}}),
          .footer =
              "If the store does not answer or denies access, top shows that and tries again.\n"
              "Exit codes: 0; 64 usage, 78 configuration; 128+n by signal n.",
          .act = [wanted] {
            wanted->interval = std::max<milliseconds>(wanted->interval, shortest_refresh);
            return top(*wanted);
          }};
}

}  // namespace holdfast::cli
