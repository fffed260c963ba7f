#include <poll.h>

#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <thread>

#include "demo/demo.hpp"
#include "demo/office.hpp"
#include "exit_code.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "text/table.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

class open_office {
 public:
  explicit open_office(const std::string& store)
      : locks_(store.empty() ? "dir:" + place_.file("locks") : store), shown_(url_that_answers()) {}

  int keep_open() {
    ticket_office(office_file_).open_anew(seats_of_a_train);
    tell();
    pipe_ends closing = make_pipe();
    child_processes all;
    start_all(all, closing);
    closing.read.reset();
    const int by = wait_for_signal(all);
    closing.write.reset();
    // Clerks release their locks and leave the queues. Those that take too long are killed.
    for (const auto end = boot_clock::now() + 5s; !all.all_ended() && boot_clock::now() < end;) {
      std::this_thread::sleep_for(5ms);
    }
    return by == 0 ? internal : by_signal + by;
  }

 private:
  /// Connects before the clerks are forked and leaves no connection open. Throws lock_error.
  [[nodiscard]] std::string url_that_answers() const {
    const store locks = open(locks_);
    (void)locks.inspect(train_);
    return locks.url();
  }

  void tell() const {
    const std::string at = " " + shell_words({"--store", shown_});
    std::printf(
        "The ticket office is open: five sellers at one lock, two readers at another, three cashiers at two tills.\n"
        "Look at it in another terminal:\n\n"
        "  holdfast top%s\n"
        "  holdfast ls %s%s\n"
        "  holdfast show %s%s\n\n",
        at.c_str(), place_.prefix().c_str(), at.c_str(), train_.c_str(), at.c_str());
    const bool hides_a_password = shown_ != locks_ && locks_.find('@') != std::string::npos;
    if (hides_a_password) std::puts("The password is left out here: put the whole URL into HOLDFAST_STORE there.\n");
    std::puts("Ctrl-C closes it.");
    std::fflush(stdout);
  }

  void start(child_processes& all, pipe_ends& closing, clerk who) {
    who.store = locks_;
    all.start([&] {
      closing.write.reset();  // otherwise its own copy would keep the pipe open
      return work_until_closing(who, closing.read.get(), stage_);
    });
  }

  void start_all(child_processes& all, pipe_ends& closing) {
    using kind = clerk::kind;
    for (int n = 1; n <= 5; ++n) {
      start(all, closing, {.does = kind::seller, .number = n, .name = train_, .office = office_file_});
    }
    for (int n = 1; n <= 2; ++n) {
      start(all, closing,
            {.does = kind::reader, .number = n, .name = place_.prefix() + "timetable", .holds = 4s, .pauses = 300ms});
    }
    for (int n = 1; n <= 3; ++n) {
      start(all, closing, {.does = kind::cashier, .number = n, .name = place_.prefix() + "tills", .holds = 2500ms});
    }
  }

  /// Returns 0 if all clerks have ended, which is an error.
  int wait_for_signal(child_processes& all) {
    progress bar("sold", seats_of_a_train);
    while (!all.all_ended()) {
      bar.show(stage_.sold % seats_of_a_train);
      pollfd signal{signals_.fd(), POLLIN, 0};
      ::poll(&signal, 1, 200);
      if (const int by = signals_.asked_to_stop(); by != 0) return by;
    }
    return 0;
  }

  const demo_folder place_;
  const std::string office_file_ = place_.file("office.db");
  const std::string train_ = place_.prefix() + "train/001";
  const std::string locks_, shown_;
  caught_signals signals_;  // terminal signals reach the clerks too; they ignore them, and we close the office
  shared_progress& stage_ = shared_progress::make();
};

}  // namespace

int keep_demo_open(const std::string& store) { return open_office(store).keep_open(); }

}  // namespace holdfast::cli
