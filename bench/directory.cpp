#include <spawn.h>
#include <sqlite3.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <thread>

#include "bench.hpp"
#include "shared.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

/// A lock as SQLite alone would do it: one row inserted, then deleted.
class bare_sqlite {
 public:
  explicit bare_sqlite(const std::string& file) {
    sqlite3_open(file.c_str(), &database_);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    run("CREATE TABLE place(name BLOB, ticket INTEGER, owner BLOB, PRIMARY KEY(name, ticket)) WITHOUT ROWID");
    const char* all[] = {"BEGIN IMMEDIATE",
                         "INSERT INTO place VALUES(x'61', 0, x'0123456789abcdef0123456789abcdef')",
                         "COMMIT",
                         "BEGIN IMMEDIATE",
                         "DELETE FROM place WHERE name = x'61' AND ticket = 0",
                         "COMMIT"};
    for (std::size_t n = 0; n < statements_.size(); ++n) {
      sqlite3_prepare_v2(database_, all[n], -1, &statements_[n], nullptr);
    }
  }
  bare_sqlite(const bare_sqlite&) = delete;
  bare_sqlite& operator=(const bare_sqlite&) = delete;
  ~bare_sqlite() {
    for (sqlite3_stmt* s : statements_) sqlite3_finalize(s);
    sqlite3_close(database_);
  }
  void pair() {
    for (sqlite3_stmt* s : statements_) {
      sqlite3_step(s);
      sqlite3_reset(s);
    }
  }

 private:
  void run(const char* sql) { sqlite3_exec(database_, sql, nullptr, nullptr, nullptr); }
  sqlite3* database_ = nullptr;
  std::array<sqlite3_stmt*, 6> statements_{};
};

void uncontended_pair(std::vector<figure>& all) {
  const folder here;
  holdfast::store store = holdfast::open("dir:" + here.file("locks"));
  bare_sqlite bare(here.file("bare.db"));
  std::vector<double> ours, theirs, ratios;
  for (int slice = 0; slice < 20; ++slice) {
    ours.push_back(nanoseconds_each([&] { const holdfast::lease held = store.acquire("train/001"); }) / 1000);
    theirs.push_back(nanoseconds_each([&] { bare.pair(); }) / 1000);
    ratios.push_back(ours.back() / theirs.back());
  }
  all.push_back({"dir:, uncontended, acquire+release of a lease", median(ours), "us"});
  all.push_back({"two bare SQLite write transactions", median(theirs), "us"});
  const double ratio = median(ratios);
  all.push_back({"dir:, uncontended, ratio", ratio, "x", "at most 2", ratio <= 2});
}

/// Microseconds from release in one process to the return of acquire() in the other.
template <class Hold>
std::vector<double> hand_offs(Hold hold) {
  const folder here;
  const std::string url = "dir:" + here.file("locks");
  struct board {
    std::atomic<double> released{0};
    std::atomic<int> rounds{0};
    std::atomic<int> count{0};
    std::array<double, 4000> took{};
  };
  board& b = shared<board>();
  const auto play = [&] {
    holdfast::store store = holdfast::open(url);
    while (b.rounds < 2000) {
      holdfast::lease held = store.acquire("train/001");
      const double got = microseconds_now();
      if (const double sent = b.released.exchange(0); sent > 0) {
        b.took[static_cast<std::size_t>(b.count++)] = got - sent;
      }
      ++b.rounds;
      hold();  // long enough for the other process to queue
      b.released = microseconds_now();
      held.release();
    }
  };
  {
    process one(play), other(play);
    one.join();
    other.join();
  }
  return {b.took.begin(), b.took.begin() + b.count};
}

void hand_off(std::vector<figure>& all) {
  const std::vector<double> took = hand_offs([] { work(200); });
  const double half = median(took);
  all.push_back({"dir:, hand-off, holder works for 200 us, p50", half, "us", "at most 100", half <= 100});
  all.push_back({"dir:, hand-off, holder works for 200 us, p99", at_share(took, 0.99), "us"});
  const std::vector<double> idle = hand_offs([] { std::this_thread::sleep_for(500us); });
  all.push_back({"dir:, hand-off, holder sleeps for 500 us, p50", median(idle), "us"});
}

void after_a_kill(std::vector<figure>& all) {
  const folder here;
  const std::string url = "dir:" + here.file("locks");
  struct board {
    std::atomic<bool> held{false};
    std::atomic<double> got{0};
  };
  class waiting_observer final : public holdfast::observer {
   public:
    explicit waiting_observer(std::atomic<bool>& to) : to_(to) {}
    void on(const holdfast::event& e) noexcept override {
      if (e.what == holdfast::event::kind::waiting) to_ = true;
    }

   private:
    std::atomic<bool>& to_;
  };
  std::vector<double> took;
  for (int round = 0; round < 50; ++round) {
    board& b = shared<board>();
    std::atomic<bool>& waits = shared<std::atomic<bool>>();
    const process holder([&] {
      holdfast::store store = holdfast::open(url);
      const holdfast::lease held = store.acquire("train/001");
      b.held = true;
      ::pause();
    });
    while (!b.held) std::this_thread::yield();
    process waiter([&] {
      holdfast::store store = holdfast::open(url, {.observe = std::make_shared<waiting_observer>(waits)});
      const holdfast::lease held = store.acquire("train/001");
      b.got = microseconds_now();
    });
    while (!waits) std::this_thread::yield();
    std::this_thread::sleep_for(2ms);  // the other process sleeps by now
    const double killed = microseconds_now();
    holder.kill();
    waiter.join();
    took.push_back((b.got - killed) / 1000);
  }
  all.push_back({"dir:, kill -9 of the holder to the next holder, p50", median(took), "ms"});
  const double worst = at_share(took, 1);
  all.push_back(
      {"dir:, kill -9 of the holder to the next holder, worst of 50", worst, "ms", "at most 10", worst <= 10});
}

double pairs_a_second(holdfast::store& store, int threads) {
  std::atomic<bool> over{false};
  std::atomic<long> pairs{0};
  std::vector<std::thread> all;
  const seconds began = now();
  for (int me = 0; me < threads; ++me) {
    all.emplace_back([&, me] {
      const std::string name = "train/" + std::to_string(me);
      while (!over) {
        const holdfast::lease held = store.acquire(name);
        ++pairs;
      }
    });
  }
  std::this_thread::sleep_for(300ms);
  over = true;
  for (auto& t : all) t.join();
  return static_cast<double>(pairs) / (now() - began).count();
}

void many_threads(std::vector<figure>& all) {
  const folder here;
  holdfast::store store = holdfast::open("dir:" + here.file("locks"));
  std::vector<double> one, many, ratios;
  for (int slice = 0; slice < 7; ++slice) {
    one.push_back(pairs_a_second(store, 1));
    many.push_back(pairs_a_second(store, 64));
    ratios.push_back(many.back() / one.back());
  }
  all.push_back({"dir:, one thread", median(one), "pairs/s"});
  all.push_back({"dir:, 64 threads on 64 names", median(many), "pairs/s"});
  const double ratio = median(ratios);
  all.push_back({"dir:, 64 threads on 64 names, ratio", ratio, "x", "at least 0.8", ratio >= 0.8});
}

void among_writers(std::vector<figure>& all) {
  const folder here;
  const std::string url = "dir:" + here.file("locks");
  std::atomic<bool>& over = shared<std::atomic<bool>>();
  {
    const holdfast::store made = holdfast::open(url);
  }
  std::vector<process> writers;
  for (int n = 0; n < 4; ++n) {
    writers.emplace_back([&, n] {
      holdfast::store store = holdfast::open(url);
      while (!over) const holdfast::lease held = store.acquire("writer/" + std::to_string(n));
    });
  }
  std::vector<double> took;
  {
    holdfast::store store = holdfast::open(url);
    for (int k = 0; k < 3000; ++k) {
      const double began = microseconds_now();
      {
        const holdfast::lease held = store.acquire("train/001");
      }
      took.push_back((microseconds_now() - began) / 1000);
      std::this_thread::sleep_for(200us);
    }
  }
  over = true;
  for (process& w : writers) w.join();
  all.push_back({"dir:, a pair while 4 processes write, p50", median(took), "ms"});
  const double late = at_share(took, 0.99);
  all.push_back({"dir:, a pair while 4 processes write, p99", late, "ms", "at most 1", late <= 1});
}

double milliseconds_of(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& a : command) arguments.push_back(a.data());
  arguments.push_back(nullptr);
  const double began = microseconds_now();
  pid_t pid = -1;
  if (::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return 0;
  ::waitpid(pid, nullptr, 0);
  return (microseconds_now() - began) / 1000;
}

void from_the_shell(std::vector<figure>& all) {
  const folder here;
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "cli/holdfast";
  std::vector<double> ours, theirs, ratios;
  for (int k = 0; k < 100; ++k) {
    ours.push_back(
        milliseconds_of({program, "run", "--store", "dir:" + here.file("locks"), "-n", "train/001", "--", "true"}));
    theirs.push_back(milliseconds_of({"flock", "-n", here.file("lock"), "true"}));
    ratios.push_back(ours.back() / theirs.back());
  }
  all.push_back({"holdfast run -n NAME -- true", median(ours), "ms"});
  all.push_back({"flock -n FILE true", median(theirs), "ms"});
  const double ratio = median(ratios);
  all.push_back({"holdfast run against flock, ratio", ratio, "x", "at most 5", ratio <= 5});
}

}  // namespace

void directory(std::vector<figure>& all) {
  uncontended_pair(all);
  hand_off(all);
  after_a_kill(all);
  many_threads(all);
  among_writers(all);
  from_the_shell(all);
}

}  // namespace bench
