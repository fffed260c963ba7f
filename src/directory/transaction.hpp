#pragma once
#include <algorithm>
#include <chrono>
#include <semaphore>

#include "directory/ledger.hpp"

/// How those who change the ledger, or look at it, keep out of each other's way. For its own sources.
namespace holdfast::directory {

/// The turn among our threads.
class ledger::one_thread {
 public:
  one_thread(ledger& l, instant until) : turn_(l.turn_) {
    const auto patience = std::min<std::chrono::nanoseconds>(until - boot_clock::now(), std::chrono::hours(1));
    if (!turn_.try_acquire() && !turn_.try_acquire_for(patience)) l.writers_.name_the_one();
  }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;
  ~one_thread() { turn_.release(); }

 private:
  std::binary_semaphore& turn_;
};

/// A transaction: the turn among our threads, the writer's byte among processes, then SQLite's own. Undone unless kept.
class ledger::writing {
 public:
  writing(ledger& l, instant until) : ledger_(l), among_threads_(l, until), among_processes_(l.writers_, until) {
    l.mint_.begin();
    l.database_.files().check_if_changed();  // else we would write where nobody reads
    l.database_.wait_for_strangers(until);
    l.begin_.run();
  }
  writing(const writing&) = delete;
  writing& operator=(const writing&) = delete;
  ~writing() {
    if (ledger_.database_.in_transaction()) {
      try {
        ledger_.roll_back_.run();
      } catch (...) {  // then SQLite has undone it already
      }
    }
  }
  void keep() {
    ledger_.mint_.secure();
    ledger_.commit_.run();
  }

 private:
  ledger& ledger_;
  const one_thread among_threads_;
  const writers::turn among_processes_;
};

/// The turn among our threads is enough for who only looks.
class ledger::reading {
 public:
  reading(ledger& l, instant until) : among_threads_(l, until) {
    l.database_.files().check_if_changed();
    l.database_.wait_for_strangers(until);
  }

 private:
  const one_thread among_threads_;
};

/// Whoever looks more than once sees one moment.
class ledger::snapshot {
 public:
  explicit snapshot(ledger& l) : ledger_(l) { l.begin_to_look_.run(); }
  snapshot(const snapshot&) = delete;
  snapshot& operator=(const snapshot&) = delete;
  ~snapshot() {
    try {
      ledger_.roll_back_.run();
    } catch (...) {  // then SQLite has ended it already
    }
  }

 private:
  ledger& ledger_;
};

}  // namespace holdfast::directory
