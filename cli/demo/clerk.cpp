#include "demo/clerk.hpp"

#include <poll.h>

#include <condition_variable>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "demo/office.hpp"
#include "holding/departure.hpp"
#include "process/flag.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// Asks to stop when nobody writes to the pipe any more.
class closing_time {
 public:
  explicit closing_time(int pipe)
      : watching_([this, pipe] {
          pollfd both[] = {{pipe, POLLIN, 0}, {done_.fd(), POLLIN, 0}};
          while (::poll(both, 2, -1) < 0) {
          }
          comes_.request_stop();
        }) {}
  closing_time(const closing_time&) = delete;
  closing_time& operator=(const closing_time&) = delete;
  ~closing_time() { done_.set(); }
  [[nodiscard]] std::stop_token comes() const { return comes_.get_token(); }

 private:
  flag done_;
  std::stop_source comes_;
  std::jthread watching_;
};

/// Or less, if it is time to close.
void pass_time(std::chrono::milliseconds length, const std::stop_token& closing) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, closing, length, [] { return false; });
}

std::string title(const clerk& c) {
  const char* const what = c.does == clerk::kind::seller   ? "seller "
                           : c.does == clerk::kind::reader ? "reads the timetable, no. "
                                                           : "cashier ";
  return what + std::to_string(c.number);
}

/// A sale with the lock in hand. When all is sold, the next train is up.
void sell_one(const clerk& c, ticket_office& office, const lease& held, stage& all) {
  const int sold = office.sold(held.fence());
  if (sold < 0) return;
  if (sold >= office.seats()) {
    office.open_anew(seats_of_a_train);
  } else if (office.sell(sold + 1, c.number, held.fence())) {
    ++all.sold;
  }
}

void come_and_go(const clerk& c, store& locks, stage& all, const std::stop_token& closing) {
  const std::string label = title(c);
  const lock_options how{.ttl = 5s, .label = label, .shared = c.does == clerk::kind::reader};
  std::optional<ticket_office> office;
  if (c.does == clerk::kind::seller) office.emplace(c.office);
  while (!closing.stop_requested()) {
    std::optional<lease> held;
    if (c.does == clerk::kind::cashier) {
      held = semaphore(locks, c.name, tills, how).try_take(until(closing), 1);
    } else {
      held = locks.try_acquire(c.name, until(closing), how);
    }
    if (!held) continue;
    if (office) sell_one(c, *office, *held, all);
    pass_time(c.holds, closing);
    held->release();
    pass_time(c.pauses, closing);
  }
}

}  // namespace

int work_until_closing(const clerk& c, int closing, stage& all) {
  try {
    store locks = open(c.store);
    const closing_time soon(closing);
    while (!soon.comes().stop_requested()) {
      try {
        come_and_go(c, locks, all, soon.comes());
      } catch (const lock_error& e) {
        std::fprintf(stderr, "%s: %s; asking again\n", title(c).c_str(), e.what());
        pass_time(1s, soon.comes());
      }
    }
    wait_until_gone_from(locks, c.name);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", title(c).c_str(), e.what());
    return 1;
  }
}

}  // namespace holdfast::cli
