#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "chaos/event.hpp"
#include "holdfast/limit.hpp"

namespace holdfast::chaos {

/// Now, on the clock of the history.
[[nodiscard]] inline std::int64_t now() noexcept { return boot_clock::now().time_since_epoch().count(); }

/// From a client to the office. What was told is not lost when the client is killed. When the office is gone, the
/// process ends. May be used by several threads.
class line {
 public:
  explicit line(const std::string& office);
  line(const line&) = delete;
  line& operator=(const line&) = delete;

  void tell(const event&);
  [[nodiscard]] reply ask(const event&);

 private:
  std::mutex turn_;
  int socket_ = -1;
};

}  // namespace holdfast::chaos
