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
#include "looking/looking.hpp"
#include "options/values.hpp"
#include "process/signals.hpp"
#include "text/table.hpp"
#include "top/draw.hpp"
#include "top/model.hpp"

namespace holdfast::cli {

lookout::lookout(store s, std::string prefix, std::chrono::milliseconds interval)
    : store_(std::move(s)),
      prefix_(std::move(prefix)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

lookout::~lookout() {
  thread_.request_stop();
  store_.close();  // what it waits for ends at once
}

template <class Change>
void lookout::tell(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(news_);
  }
  told_.set();
}

lookout::news lookout::take() {
  told_.take();
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void lookout::look_at(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (closer_ == name) return;
  closer_ = name;
  look_now_ = true;
  wanted_.notify_one();
}

void lookout::ask(top_request r) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(r));
  wanted_.notify_one();
}

void lookout::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!requests_.empty()) {
      const top_request next = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      const std::string done = perform(next);
      tell([&](news& n) { n.done = done; });
      lock.lock();
      look_now_ = true;
    }
    if (look_now_) {
      look_now_ = false;
      const std::string closer = closer_;
      lock.unlock();
      try {
        if (!closer.empty()) look_closer(closer);
        look(stop);
        tell([](news& n) { n.trouble = ""; });
      } catch (const std::exception& e) {
        tell([&](news& n) { n.trouble = e.what(); });
      }
      lock.lock();
    }
    wanted_.wait_for(lock, stop, interval_, [&] { return look_now_ || !requests_.empty(); });
    if (requests_.empty()) look_now_ = true;
  }
}

void lookout::look(const std::stop_token& stop) {
  std::vector<listing::entry> all;
  for_each_page(store_, prefix_, [&](const std::vector<listing::entry>& page) {
    all.insert(all.end(), page.begin(), page.end());
    return !stop.stop_requested();
  });
  tell([&](news& n) { n.names = std::move(all); });
}

void lookout::look_closer(const std::string& name) {
  state seen = store_.inspect(name);
  tell([&](news& n) { n.details.emplace(name, std::move(seen)); });
}

std::string lookout::perform(const top_request& r) {
  try {
    if (r.what == top_request::kind::revoke) {
      return store_.revoke(r.name, r.reason) ? "asked to let go of " + r.name : "nobody holds it";
    }
    const bool by_owner = r.from.fence == 0 || r.from.permits != 0;
    const bool taken = store_.break_lock(r.name, by_owner ? 0 : r.from.fence, r.reason, by_owner ? r.from.owner : "");
    return taken ? "taken by force: " + r.name : "it is not held by that one any more; nothing is taken";
  } catch (const std::exception& e) {
    return e.what();
  }
}

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr auto shortest_refresh = 10ms;
constexpr int escape_key_patience = 50;  // ms from ESC to what belongs to it, if anything does

struct top_options {
  store_option store{};
  name_argument prefix{};
  milliseconds interval{1'000};
};

/// Model, screen, keys, signals and store, brought together.
class top_view {
 public:
  explicit top_view(const top_options& o)
      : lookout_(o.store.open(), o.prefix.text(), o.interval) {}  // a store that cannot be opened leaves no screen

  /// The signal that ended us; 0: the user did.
  int go() {
    while (!model_.over() && ended_by_ == 0) {
      model_.set_page(names_in(screen_.size()));
      screen_.show(draw(model_, screen_.size(), style_, system_clock::now()));
      pollfd all[] = {{signals_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}, {lookout_.fd(), POLLIN, 0}};
      const int ready = ::poll(all, 3, keys_.is_waiting() ? escape_key_patience : -1);
      if (ready == 0) press(keys_.give_up());
      if (ready <= 0) continue;
      if (all[0].revents != 0) hear();
      if (all[1].revents != 0) read_keys();
      if (all[2].revents != 0) learn();
    }
    return ended_by_;
  }

 private:
  void hear() {
    while (const int number = signals_.next()) {
      if (ends_us(number) && !signals_.ignored(number)) ended_by_ = number;
      if (number == SIGTSTP) {
        screen_.leave();
        signals_.stop_here();
        screen_.enter();
      }
      if (number == SIGCONT) screen_.enter();  // stopped by a signal that nobody hears, and so without having left
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
      if (auto wanted = model_.press(each)) lookout_.ask(std::move(*wanted));
    }
    lookout_.look_at(model_.details_of());
  }

  void learn() {
    lookout::news is = lookout_.take();
    if (is.names) model_.set_names(std::move(*is.names), system_clock::now());
    if (is.details) model_.set_details(is.details->first, std::move(is.details->second));
    if (is.trouble) model_.set_trouble(std::move(*is.trouble));
    if (is.done) model_.tell(std::move(*is.done));
  }

  caught_signals signals_;  // before there is any thread
  const style style_{stdout};
  top_model model_;
  key_reader keys_;
  lookout lookout_;
  screen screen_;
  int ended_by_ = 0;
};

int top(const top_options& o) {
  if (::isatty(STDIN_FILENO) != 1 || !style(stdout).live()) {
    std::fputs("holdfast: top wants a terminal to draw on; elsewhere say holdfast ls, or holdfast watch\n", stderr);
    return usage;
  }
  int ended_by = 0;
  {
    top_view one(o);
    ended_by = one.go();
  }
  if (ended_by != 0) die_of(ended_by);
  return fine;
}

}  // namespace

command_spec describe_top(const user_command&) {
  const auto wanted = std::make_shared<top_options>();
  return {
      .name = "top",
      .group = "look",
      .description = "What is held or waited for, as it changes, on the whole terminal",
      .examples = {{"holdfast top", "all that is held or waited for"}, {"holdfast top jobs/", "names that begin so"}},
      .options = joined({wanted->prefix.prefix_rows(),
                         {wanted->store.row(),
                          {.names = "--interval",
                           .value = "D",
                           .help = "from one look at the store to the next [1s]",
                           .into = &wanted->interval}}}),
      .footer =
          "A store that gives no answer, or does not let us look, is shown, and asked again.\n"
          "Exit codes: 0; 64 usage, 78 configuration; 128+n by signal n.",
      .act = [wanted] {
        wanted->interval = std::max<milliseconds>(wanted->interval, shortest_refresh);
        return top(*wanted);
      }};
}

}  // namespace holdfast::cli
