#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "chaos/event.hpp"

namespace holdfast::chaos {

/// One holding of a lock, as its holder saw it.
struct hold {
  enum class end { open, released, lost, unknown, died };
  std::uint32_t party = 0;
  std::uint8_t lock = 0;
  std::uint8_t part = 0;
  end ending = end::open;
  std::uint64_t fence = 0;
  std::int64_t ttl = 0;       ///< ns
  std::int64_t called = 0;    ///< when its holder asked for it
  std::int64_t granted = 0;   ///< when it had it
  std::int64_t deadline = 0;  ///< the last that its holder knew
  std::int64_t over = 0;      ///< when the holder gave it back, found it lost, or died; 0: not yet

  /// The end of the time in which its holder may believe in it; not after `granted`: there was none.
  [[nodiscard]] std::int64_t until() const noexcept { return over != 0 && over < deadline ? over : deadline; }
  [[nodiscard]] bool believed() const noexcept { return until() > granted; }
};

/// Makes holds of events. Those of one party come in order; parties may be late by as long as a process stood still.
class holds {
 public:
  explicit holds(std::function<void(const hold&)> closed) : closed_(std::move(closed)) {}
  void see(const event&);
  /// Those that are still open are closed as they are.
  void finish();
  [[nodiscard]] const std::map<std::uint32_t, hold>& open() const noexcept { return open_; }

 private:
  void close(std::uint32_t party);
  std::function<void(const hold&)> closed_;
  std::map<std::uint32_t, event> calls_;  // by party
  std::map<std::uint32_t, hold> open_;    // by party
  std::map<std::int64_t, event> runs_;    // by their number
};

}  // namespace holdfast::chaos
