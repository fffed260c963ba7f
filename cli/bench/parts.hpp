#pragma once
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <holdfast/store.hpp>
#include <stop_token>
#include <string>

#include "bench/histogram.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// When what is measured counts. Shared by threads or, in shared memory, by processes.
struct counting {
  std::atomic<bool> counts{false};  ///< the warm-up is over: what begins now is counted
  std::atomic<bool> over{false};    ///< no new turn is begun
};

/// Opens and closes the window of each measurement: a warm-up, then the time. Shows a bar meanwhile. A signal ends it
/// early.
class stopwatch {
 public:
  /// The signals must outlive it. `live`: a bar may be shown.
  stopwatch(std::chrono::milliseconds time, caught_signals& signals, bool live)
      : time_(time), signals_(signals), live_(live) {}
  /// Ends early, too, when `failed` is set. Returns how long the window counted.
  std::chrono::duration<double> run(const std::string& part, counting&, const flag& failed);
  /// The signal that ended us; 0: none has.
  [[nodiscard]] int stopped_by() noexcept { return signals_.asked_to_stop(); }

 private:
  const std::chrono::milliseconds time_;
  caught_signals& signals_;
  const bool live_;
};

/// One turn of what is timed. False: it was cut short by the stop_token, and does not count.
using turn = std::function<bool(std::stop_token)>;

/// So many threads, each with a turn of its own that it repeats until the stopwatch ends it. Throws what a turn throws.
void measure_in_threads(unsigned threads, const std::function<turn(unsigned me)>& turn_of, stopwatch&, measurement&);

/// Two processes that hand one lock to each other. What is timed is the way from the call of release() in one to the
/// return of acquire() in the other.
class relay {
 public:
  /// Forks them; they wait, and open nothing yet. Before this process has threads. Throws std::system_error.
  relay(std::string url, std::string name);
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();  ///< they are gone then, and have given back what they held

  /// Each holds the lock for so long a time: by then the other stands in the queue. Throws lock_error.
  void measure(std::chrono::nanoseconds held, stopwatch&, measurement&);

 private:
  struct board;
  [[nodiscard]] static board& shared_board();
  void run(std::size_t me) noexcept;  // in the fork
  void play(std::size_t me);
  void wait() noexcept;

  const std::string url_, name_;
  board& board_;
  flag failed_;
  pipe_ends go_;
  std::array<pid_t, 2> players_{};
};

/// What is measured, by its name on the command line, in this order..
inline constexpr const char* bench_parts[] = {"lock", "threads", "contention", "hand-off", "renew"};

/// Takes and gives back locks whose names begin with the prefix. They throw lock_error.
class thread_parts {
 public:
  /// All must outlive it.
  thread_parts(store& s, const std::string& prefix, stopwatch& watch) : store_(s), prefix_(prefix), watch_(watch) {}
  [[nodiscard]] measurement raw();  ///< empty when the raw connection is cut
  [[nodiscard]] measurement lock();
  [[nodiscard]] measurement threads(unsigned);
  [[nodiscard]] measurement contention(unsigned);
  [[nodiscard]] measurement renew();

 private:
  store& store_;
  const std::string& prefix_;
  stopwatch& watch_;
};

}  // namespace holdfast::cli
