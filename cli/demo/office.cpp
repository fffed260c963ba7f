#include "demo/office.hpp"

#include <poll.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "hold/acquisition.hpp"
#include "process/io.hpp"

namespace holdfast::cli {

ticket_office::ticket_office(const std::string& file) {
  if (sqlite3_open(file.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
  sqlite3_busy_timeout(database_, 20'000);
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
      "CREATE TABLE IF NOT EXISTS train(seats INTEGER, sold INTEGER, fence INTEGER);"
      "CREATE TABLE IF NOT EXISTS ticket(number INTEGER, seller INTEGER, fence INTEGER)");
}

ticket_office::~ticket_office() { sqlite3_close(database_); }

void ticket_office::run(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the ticket office: ") + sqlite3_errmsg(database_));
  }
}

int ticket_office::number(const std::string& sql) {
  int result = -1;
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<int*>(to) = std::stoi(values[0]);
    return 0;
  };
  if (sqlite3_exec(database_, sql.c_str(), take, &result, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the ticket office: ") + sqlite3_errmsg(database_));
  }
  return result;
}

void ticket_office::open_anew(int seats) {
  run("BEGIN IMMEDIATE; DELETE FROM train; DELETE FROM ticket; INSERT INTO train VALUES(" + std::to_string(seats) +
      ", 0, 0); COMMIT");
}

// The fence is also checked on reads, so that a holder that was overtaken does not start a sale.
int ticket_office::sold(std::uint64_t fence) {
  const std::string mine = std::to_string(fence);
  return number("UPDATE train SET fence = " + mine + " WHERE fence <= " + mine + " RETURNING sold");
}

bool ticket_office::sell(int number_sold, int seller, std::uint64_t fence) {
  const std::string mine = std::to_string(fence);
  run("BEGIN IMMEDIATE");
  run("UPDATE train SET sold = " + std::to_string(number_sold) + ", fence = " + mine + " WHERE fence <= " + mine);
  const bool admitted = sqlite3_changes(database_) == 1;
  if (admitted) {
    run("INSERT INTO ticket VALUES(" + std::to_string(number_sold) + ", " + std::to_string(seller) + ", " + mine + ")");
  }
  run("COMMIT");
  return admitted;
}

int ticket_office::tickets() { return number("SELECT count(*) FROM ticket"); }

int ticket_office::seats() { return number("SELECT seats FROM train"); }

namespace {

using namespace std::chrono_literals;

constexpr auto a_sale_takes = 2ms;  // the customer pays, the ticket is printed

/// Returns false if all seats are sold or the office rejected the sale.
bool one_sale(const seller_rules& mine, ticket_office& office, std::uint64_t fence, shared_progress& all) {
  const int sold = office.sold(fence);
  if (sold < 0 || sold >= office.seats()) return false;
  if (all.shall_freeze == mine.number) {
    all.frozen_fence = fence;
    all.frozen = mine.number;
    while (!all.thaw) std::this_thread::sleep_for(1ms);
    all.shall_freeze = shared_progress::none;
  } else {
    std::this_thread::sleep_for(a_sale_takes);
  }
  if (!office.sell(sold + 1, mine.number, fence)) {
    ++all.refused;
    return false;
  }
  ++all.sold;
  return true;
}

}  // namespace

int sell_tickets(const seller_rules& mine, shared_progress& all) {
  try {
    ticket_office office(mine.office);
    if (mine.store.empty()) {
      while (one_sale(mine, office, 0, all)) {
      }
      return 0;
    }
    store locks = open(mine.store);
    const lock_options how{
        .ttl = mine.fixed ? 1s : ttl_of_a_seller, .renew = !mine.fixed, .label = "a seller of train 001"};
    for (bool more = true; more;) {
      const lease held = locks.acquire(mine.lock, how);
      if (const std::int64_t now = boot_clock::now().time_since_epoch().count(); all.killed != 0 && now > all.killed) {
        std::int64_t none = 0;
        all.first_grant_after.compare_exchange_strong(none, now);
      }
      all.last_fence = held.fence();
      more = one_sale(mine, office, held.fence(), all);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "seller %d: %s\n", mine.number, e.what());
    ++all.failed;
    return 1;
  }
}

namespace {

/// Requests a stop when all writers have closed the pipe.
class closing_watch {
 public:
  explicit closing_watch(int pipe)
      : watching_([this, pipe] {
          pollfd both[] = {{pipe, POLLIN, 0}, {done_.fd(), POLLIN, 0}};
          while (::poll(both, 2, -1) < 0) {
          }
          comes_.request_stop();
        }) {}
  closing_watch(const closing_watch&) = delete;
  closing_watch& operator=(const closing_watch&) = delete;
  ~closing_watch() { done_.set(); }
  [[nodiscard]] std::stop_token comes() const { return comes_.get_token(); }

 private:
  flag done_;
  std::stop_source comes_;
  std::jthread watching_;
};

/// Sleeps, but no longer than until closing.
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

/// Sells one ticket under the lock. When all are sold, the next train starts.
void sell_one(const clerk& c, ticket_office& office, const lease& held, shared_progress& all) {
  const int sold = office.sold(held.fence());
  if (sold < 0) return;
  if (sold >= office.seats()) {
    office.open_anew(seats_of_a_train);
  } else if (office.sell(sold + 1, c.number, held.fence())) {
    ++all.sold;
  }
}

void work(const clerk& c, store& locks, shared_progress& all, const std::stop_token& closing) {
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

int work_until_closing(const clerk& c, int closing, shared_progress& all) {
  try {
    store locks = open(c.store);
    const closing_watch soon(closing);
    while (!soon.comes().stop_requested()) {
      try {
        work(c, locks, all, soon.comes());
      } catch (const lock_error& e) {
        std::fprintf(stderr, "%s: %s; asking again\n", title(c).c_str(), e.what());
        pass_time(1s, soon.comes());
      }
    }
    wait_until_forgotten(locks, c.name);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", title(c).c_str(), e.what());
    return 1;
  }
}

child_processes::~child_processes() {
  for (const pid_t each : all_) {
    if (each > 0) ::kill(each, SIGKILL);
  }
  for (const pid_t each : all_) {
    if (each > 0) ::waitpid(each, nullptr, 0);
  }
}

void child_processes::start(const std::function<int()>& work) {
  std::fflush(stdout);
  const pid_t boss = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot start a process");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
    ::_exit(::getppid() == boss ? work() : 1);
  }
  all_.push_back(pid);
}

void child_processes::kill(std::size_t number, int signal) const { ::kill(all_.at(number), signal); }

bool child_processes::all_ended() {
  for (pid_t& each : all_) {
    if (each > 0 && ::waitpid(each, nullptr, WNOHANG) == each) each = 0;
  }
  return std::all_of(all_.begin(), all_.end(), [](pid_t each) { return each == 0; });
}

}  // namespace holdfast::cli
