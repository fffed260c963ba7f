#pragma once
#include <atomic>
#include <cstdint>

#include "holdfast/limit.hpp"
#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::core {

/// The pauses of callers whose requests got no answer. All of them end early when the store is back.
class backoff {
 public:
  /// How often the pauses were ended early. A caller reads it before it sends its request.
  [[nodiscard]] std::uint64_t cuts() const noexcept { return cuts_; }
  /// Waits for the limit. Returns signalled if the pause was ended early, perhaps since `seen` was read.
  [[nodiscard]] runtime::task<runtime::wake> pause(runtime::io&, std::uint64_t seen, limit);
  void end_pauses() noexcept;  ///< thread-safe

 private:
  std::atomic<std::uint64_t> cuts_{0};  // written under the lock of the list; every acquire reads it without that lock
  runtime::guarded<runtime::wait_list<>> waiting_;
};

}  // namespace holdfast::core
