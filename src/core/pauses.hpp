#pragma once
#include <atomic>
#include <cstdint>

#include "holdfast/limit.hpp"
#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::core {

/// Those who wait for a moment before they ask a silent store again. When it is back, they need not wait any longer.
class pauses {
 public:
  /// How often they were cut short. Whoever asks the store reads it before.
  [[nodiscard]] std::uint64_t cuts() const noexcept { return cuts_; }
  /// For the limit; signalled: it was cut short, perhaps since `seen` was read.
  [[nodiscard]] runtime::task<runtime::wake> pause(runtime::io&, std::uint64_t seen, limit);
  /// From any thread.
  void cut_short() noexcept;

 private:
  class in_list;
  std::atomic<std::uint64_t> cuts_{0};  // written with the list: whoever only reads it, with every lock, takes no turn
  runtime::guarded<runtime::wait_list<>> waiting_;
};

}  // namespace holdfast::core
