#pragma once
#include <sys/types.h>

#include <array>
#include <chrono>
#include <string>

#include "bench/measurement.hpp"
#include "bench/stopwatch.hpp"
#include "process/descriptor.hpp"
#include "process/flag.hpp"

namespace holdfast::cli {

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

}  // namespace holdfast::cli
