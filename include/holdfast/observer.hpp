#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace holdfast {

/// One thing that happened. The views live as long as the call.
struct event {
  enum class kind {
    waiting,   ///< someone else holds it; text: its label
    acquired,  ///< took: how long it was waited for
    renewed,
    suspect,           ///< a renewal got no answer; it is tried again until the deadline
    lost,              ///< took: how long it was held; text: why
    released,          ///< took: how long it was held
    left,              ///< not acquired; took: how long the caller waited; text: the holder's label. If the store has
                       ///< failed, or has not answered by the limit: why and text say so
    revoke_requested,  ///< somebody asks the holder to let go; took: how long it is held; text: the reason
    warning,           ///< something the program should know, such as an exception out of a callback
  };
  kind what;
  std::string_view name;  ///< of the lock; empty for the store itself
  std::uint64_t fence = 0;
  std::chrono::nanoseconds took{0};
  std::error_code why{};
  std::string_view text{};  ///< the server's words, without secrets
};

/// Called on the executor, one call at a time and in order, never with a lock held.
class observer {
 public:
  virtual ~observer() = default;
  virtual void on(const event&) noexcept = 0;
};

}  // namespace holdfast
