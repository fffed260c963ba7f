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

/// The state that decides whether operations count. Threads share it, or processes do in shared memory.
struct counting {
  std::atomic<bool> counts{false};  ///< the warm-up is over: operations that begin now count
  std::atomic<bool> over{false};    ///< no operation begins any more
};

/// Controls each measurement: a warm-up, then the measured time, with a progress bar. A signal ends it early.
class stopwatch {
 public:
  /// `signals` must outlive it. `live`: show a progress bar.
  stopwatch(std::chrono::milliseconds time, caught_signals& signals, bool live)
      : time_(time), signals_(signals), live_(live) {}
  /// Returns the measured time. Also ends early when `failed` is set.
  std::chrono::duration<double> run(const std::string& part, counting&, const flag& failed);
  /// Returns the signal that ended the measurement, or 0.
  [[nodiscard]] int stopped_by() noexcept { return signals_.asked_to_stop(); }

 private:
  const std::chrono::milliseconds time_;
  caught_signals& signals_;
  const bool live_;
};

/// A measured operation. Returns false if the stop_token cut it short; it does not count then.
using operation = std::function<bool(std::stop_token)>;

/// Runs each thread's operation repeatedly until the stopwatch ends. Rethrows exceptions of the operations.
void measure_in_threads(unsigned threads, const std::function<operation(unsigned me)>& operation_of, stopwatch&,
                        measurement&);

/// Two processes that pass one lock to each other. Measures the time from the call of release() in one to the return of
/// acquire() in the other.
class relay {
 public:
  /// Forks the processes, which wait and open nothing yet. This process must not have threads. Throws
  /// std::system_error.
  relay(std::string url, std::string name);
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();  ///< ends the processes after they have released the lock

  /// Each process holds the lock for `held`, which must suffice for the other to queue. Throws lock_error.
  void measure(std::chrono::nanoseconds held, stopwatch&, measurement&);

 private:
  struct shared_state;
  [[nodiscard]] static shared_state& make_shared_state();
  void run(std::size_t me) noexcept;  // in the child
  void play(std::size_t me);
  void wait() noexcept;

  const std::string url_, name_;
  shared_state& shared_;
  flag failed_;
  pipe_ends go_;
  std::array<pid_t, 2> players_{};
};

/// The parts, by their names on the command line, in order.
inline constexpr const char* bench_parts[] = {"lock", "threads", "contention", "hand-off", "renew"};

/// Measures locks whose names begin with the prefix. All parts throw lock_error.
class thread_parts {
 public:
  /// All arguments must outlive it.
  thread_parts(store& s, const std::string& prefix, stopwatch& watch) : store_(s), prefix_(prefix), watch_(watch) {}
  [[nodiscard]] measurement raw();  ///< empty if the raw connection breaks
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
