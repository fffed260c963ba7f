#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chaos/checker.hpp"
#include "chaos/history.hpp"
#include "chaos/process_table.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::chaos {

/// What the locks protect: a counter that checks fences on reads and writes, and one that does not.
class resource {
 public:
  /// Serves reads, writes, peeks and pokes.
  reply serve(const event&);

 private:
  struct counter {
    std::int64_t value = 0;
    std::uint64_t top = 0;
  };
  std::array<counter, lock_count> fenced_{}, unfenced_{};
};

/// A thread that serves the resource and to which all processes report. It writes the history and passes each event to
/// the checker.
///
/// It also makes sure that a naive holder is overtaken: one that has read the counter is stopped until another one has
/// acquired the lock and written.
class coordinator {
 public:
  coordinator(checker&, history&);
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  ~coordinator();

  [[nodiscard]] process_table& processes() noexcept { return processes_; }
  /// Records an event of the runner itself.
  void tell(const event&);
  /// Asks the checker.
  template <class F>
  auto ask(F question) {
    const std::scoped_lock mine(mutex_);
    return question(checker_);
  }
  /// The limit of calls from now on.
  void set_limit(std::chrono::milliseconds l) noexcept { limit_ = l; }
  /// Clients end when they ask `next`.
  void close() noexcept { closing_ = true; }

 private:
  struct connection {
    int socket;
    std::optional<std::uint32_t> process;  // set for a client, not for a command
    bool first = true;                     // no event has arrived yet
    bool over = false;
  };
  void run();
  void read_all(connection&);
  void answer(connection&, const event&);
  void report_death(const connection&);
  void begin_overtaking(const event&);
  void end_overtaking();

  test::temporary_folder folder_;
  const std::string path_ = folder_.file("coordinator");
  process_table processes_{path_};
  std::mutex mutex_;
  checker& checker_;
  history& history_;
  resource resource_;
  int listener_ = -1;
  std::vector<connection> connections_;
  std::optional<event> overtaking_;  // the stop of the naive holder
  std::int64_t next_overtaking_ = 0;
  std::atomic<std::chrono::milliseconds> limit_{std::chrono::milliseconds(2000)};
  std::atomic<bool> closing_{false}, ending_{false};
  std::thread thread_;
};

}  // namespace holdfast::chaos
