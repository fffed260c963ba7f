#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "chaos/event.hpp"

namespace holdfast::chaos {

/// One lease of a lock, as its holder saw it.
struct hold {
  enum class end { open, released, lost, unknown, died };
  std::uint32_t party = 0;
  std::uint8_t lock = 0;
  std::uint8_t part = 0;
  end ending = end::open;
  std::uint64_t fence = 0;
  std::int64_t ttl = 0;       ///< ns
  std::int64_t called = 0;    ///< when the call started
  std::int64_t granted = 0;   ///< when the call returned
  std::int64_t deadline = 0;  ///< the last one that the holder knew
  std::int64_t over = 0;      ///< when the holder released it, found it lost, or died; 0: not yet

  /// When the holder stopped relying on it. If that is not after `granted`, it never did.
  [[nodiscard]] std::int64_t until() const noexcept { return over != 0 && over < deadline ? over : deadline; }
  [[nodiscard]] bool believed() const noexcept { return until() > granted; }
};

/// Builds holds from events. The events of one party arrive in order; those of a stopped process arrive late.
class holds {
 public:
  explicit holds(std::function<void(const hold&)> closed) : closed_(std::move(closed)) {}
  void see(const event&);
  /// Closes the holds that are still open.
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
