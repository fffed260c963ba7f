#include "demo/demo.hpp"

#include <csignal>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <stdexcept>
#include <thread>

#include "config/config.hpp"
#include "demo/office.hpp"
#include "exit_code.hpp"
#include "text/table.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

constexpr int seats = 500;
constexpr int sellers = 8;

volatile std::sig_atomic_t interrupted = 0;

/// Thrown after a signal, so that everything is cleaned up.
struct interruption {
  int signal;
};

/// Checks that the store answers, and closes it again before the sellers are forked.
guarantees promises_of(const std::string& url, const std::string& lock) {
  store locks = open(url);
  (void)locks.try_acquire(lock, within(5s));
  return locks.promises();
}

class ticket_demo {
 public:
  explicit ticket_demo(const std::string& store)
      : locks_(store.empty() ? "dir:" + place_.file("locks") : store), promises_(promises_of(locks_, lock_)) {}

  int perform() {
    std::printf(
        "The ticket office: %d processes sell the %d seats of train 001.\n"
        "Each sale reads how many are sold, prints a ticket, and writes one more.\n\n",
        sellers, seats);
    without_a_lock();
    with_a_lock();
    with_a_death();
    with_a_sleeper();
    std::printf(
        "\n%s A file lock (flock) has no answer to the last one, and no order, limit or fence.\n"
        "Go on with: holdfast run NAME -- CMD, or README.md.\n",
        broken_ == 0 ? "Every claim held." : "Not every claim held.");
    return broken_ == 0 ? fine : 1;
  }

 private:
  void claim(bool held, const std::string& text) {
    std::printf("  %s %s\n", held ? "ok  " : "FAIL", text.c_str());
    std::fflush(stdout);
    if (!held) ++broken_;
  }

  static void start(child_processes& all, const seller_rules& rules, shared_progress& s) {
    all.start([&] { return sell_tickets(rules, s); });
  }

  void start_all(child_processes& all, shared_progress& s, const std::string& store) const {
    for (int n = 0; n < sellers; ++n) {
      start(all, {.number = n, .office = office_file_, .store = store, .lock = lock_}, s);
    }
  }

  template <class F>
  static void until(F condition, progress& bar, const shared_progress& s) {
    for (const auto end = boot_clock::now() + 60s; !condition();) {
      if (interrupted != 0) throw interruption{interrupted};
      if (boot_clock::now() > end) throw std::runtime_error("the demo hangs");
      bar.show(s.sold);
      std::this_thread::sleep_for(1ms);
    }
  }

  void without_a_lock() {
    std::puts("1. Without a lock");
    office_.open_anew(seats);
    shared_progress& s = shared_progress::make();
    {
      child_processes all;
      start_all(all, s, "");
      progress bar("sold", seats);
      until([&] { return all.all_ended(); }, bar, s);
    }
    const int over = office_.tickets() - seats;
    claim(over > 0, "as expected, oversold by " + std::to_string(over) + ": " + std::to_string(office_.tickets()) +
                        " tickets for " + std::to_string(seats) + " seats");
  }

  void with_a_lock() {
    std::puts("2. With a lock around each sale");
    office_.open_anew(seats);
    shared_progress& s = shared_progress::make();
    const auto began = boot_clock::now();
    {
      child_processes all;
      start_all(all, s, locks_);
      progress bar("sold", seats);
      until([&] { return all.all_ended(); }, bar, s);
    }
    const auto took = std::chrono::duration<double>(boot_clock::now() - began).count();
    char text[80];
    std::snprintf(text, sizeof text, "exactly %d tickets for %d seats, in %.1f s", office_.tickets(), seats, took);
    claim(office_.tickets() == seats && s.failed == 0, text);
  }

  void with_a_death() {
    std::puts("3. A seller is killed (kill -9) while it holds the lock");
    office_.open_anew(seats);
    shared_progress& s = shared_progress::make();
    constexpr int victim = 3;
    std::int64_t killed = 0;
    {
      child_processes all;
      start_all(all, s, locks_);
      progress bar("sold", seats);
      until([&] { return s.sold >= seats / 5; }, bar, s);
      s.shall_freeze = victim;
      until([&] { return s.frozen == victim; }, bar, s);
      killed = boot_clock::now().time_since_epoch().count();
      s.killed = killed;
      all.kill(victim, SIGKILL);
      until([&] { return s.first_grant_after != 0; }, bar, s);
      first_after_ = s.first_grant_after;
      until([&] { return all.all_ended(); }, bar, s);
    }
    char text[120];
    const double ms = static_cast<double>(first_after_ - killed) / 1e6;
    const bool at_once = promises_.notices_death_at_once;
    const double longest = at_once ? 100 : 150 + 1e3 * std::chrono::duration<double>(ttl_of_a_seller).count();
    std::snprintf(text, sizeof text, "the next seller had the lock %.2f ms later%s", ms,
                  at_once ? "" : ": the dead one's lease of 2 s had to end");
    claim(first_after_ > killed && ms < longest, text);
    claim(office_.tickets() == seats && s.failed == 0,
          "exactly " + std::to_string(office_.tickets()) + " tickets: the sale that was cut short counts for nothing");
  }

  void with_a_sleeper() {
    std::puts("4. A seller with a lease of one second falls asleep for longer, and wakes up");
    office_.open_anew(seats);
    shared_progress& s = shared_progress::make();
    s.shall_freeze = 0;
    {
      child_processes all;
      progress bar("sold", seats);
      start(all, {.number = 0, .office = office_file_, .store = locks_, .lock = lock_, .fixed = true}, s);
      until([&] { return s.frozen == 0; }, bar, s);
      all.kill(0, SIGSTOP);
      start(all, {.number = 1, .office = office_file_, .store = locks_, .lock = lock_}, s);
      until([&] { return s.sold > 10; }, bar, s);
      s.thaw = true;
      all.kill(0, SIGCONT);
      until([&] { return s.refused > 0 || all.all_ended(); }, bar, s);
      until([&] { return all.all_ended(); }, bar, s);
    }
    claim(s.refused == 1, "its write came with fence " + std::to_string(s.frozen_fence) +
                              ", and was refused: the office had seen " + std::to_string(s.last_fence));
    claim(office_.tickets() == seats && s.failed == 0, "exactly " + std::to_string(office_.tickets()) + " tickets");
  }

  const demo_folder place_;
  const std::string office_file_ = place_.file("office.db");
  const std::string lock_ = place_.prefix() + "train/001";
  const std::string locks_;
  const guarantees promises_;
  ticket_office office_{office_file_};
  std::int64_t first_after_ = 0;
  int broken_ = 0;
};

}  // namespace

int demo(const std::string& store) {
  struct sigaction note{};
  note.sa_handler = [](int number) { interrupted = number; };
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) ::sigaction(number, &note, nullptr);
  try {
    return ticket_demo(store).perform();
  } catch (const interruption& by) {
    return by_signal + by.signal;
  }
}

command_spec describe_demo(const user_command&) {
  struct demo_options {
    std::string store{};
    bool keep = false;
  };
  const auto wanted = std::make_shared<demo_options>();
  return {.name = "demo",
          .group = "care",
          .description = "The ticket office: what a lock is for, in under a minute",
          .examples = {{"holdfast demo", "in a directory of its own"},
                       {"holdfast demo --store redis://127.0.0.1", "on your server"},
                       {"holdfast demo --keep", "to look at its locks with holdfast top"}},
          .options = {{.names = "--store",
                       .value = "STORE",
                       .help = "the store to show it on [a directory of its own]",
                       .into = &wanted->store,
                       .check = shared_store},
                      {.names = "--keep",
                       .help = "keep the office open until Ctrl-C, to look at its locks meanwhile",
                       .into = &wanted->keep}},
          .footer = "Exit codes: 0 every claim held, 1 one did not; 64 usage, 69 store unreachable, 78 configuration.",
          .act = [wanted] {
            const std::string url = wanted->store.empty() ? "" : choose_store(wanted->store).url.value;
            return wanted->keep ? keep_demo_open(url) : demo(url);
          }};
}

}  // namespace holdfast::cli
