#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "chaos/event.hpp"
#include "holdfast/limit.hpp"

namespace holdfast::chaos {

/// The current time on the clock of the history.
[[nodiscard]] inline std::int64_t now() noexcept { return boot_clock::now().time_since_epoch().count(); }

/// A connection from a client to the coordinator. Events that were sent are not lost when the client is killed. If the
/// coordinator has ended, the process exits. May be used by several threads.
class event_channel {
 public:
  explicit event_channel(const std::string& coordinator);
  event_channel(const event_channel&) = delete;
  event_channel& operator=(const event_channel&) = delete;

  void tell(const event&);
  [[nodiscard]] reply ask(const event&);

 private:
  std::mutex mutex_;
  int socket_ = -1;
};

}  // namespace holdfast::chaos
