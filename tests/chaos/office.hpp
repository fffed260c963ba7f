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
#include "chaos/crew.hpp"
#include "chaos/history.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::chaos {

/// What the locks protect: a counter that checks fences, on reads and on writes, and one that does not.
class resource {
 public:
  /// To reads, writes, peeks and pokes.
  reply serve(const event&);

 private:
  struct counter {
    std::int64_t value = 0;
    std::uint64_t top = 0;
  };
  std::array<counter, lock_count> fenced_{}, unfenced_{};
};

/// Where all processes report, and where the resource is: a thread of its own. It writes the history, and shows it to
/// the checker as it comes.
///
/// It also makes sure that a naive holder is overtaken, by plan: one that has read the counter is stopped until another
/// has the lock and has written.
class office {
 public:
  office(checker&, history&);
  office(const office&) = delete;
  office& operator=(const office&) = delete;
  ~office();

  [[nodiscard]] crew& people() noexcept { return crew_; }
  /// An event of the runner itself.
  void tell(const event&);
  /// Looks at what the checker knows.
  template <class F>
  auto ask(F question) {
    const std::scoped_lock mine(books_);
    return question(checker_);
  }
  /// For calls from now on.
  void set_limit(std::chrono::milliseconds l) noexcept { limit_ = l; }
  /// Clients are told to end when they ask next.
  void close() noexcept { closing_ = true; }

 private:
  struct connection {
    int socket;
    std::optional<std::uint32_t> process;  // of a client; not of a command
    bool first = true;                     // nothing was said yet
    bool over = false;
  };
  void run();
  void read_all(connection&);
  void answer(connection&, const event&);
  void say_good_bye(const connection&);
  void begin_duel(const event&);
  void end_duel();

  test::temporary_folder folder_;
  const std::string path_ = folder_.file("office");
  crew crew_{path_};
  std::mutex books_;
  checker& checker_;
  history& history_;
  resource resource_;
  int listener_ = -1;
  std::vector<connection> connections_;
  std::optional<event> duel_;  // of the naive holder that stands still
  std::int64_t next_duel_ = 0;
  std::atomic<std::chrono::milliseconds> limit_{std::chrono::milliseconds(2000)};
  std::atomic<bool> closing_{false}, ending_{false};
  std::thread thread_;
};

}  // namespace holdfast::chaos
