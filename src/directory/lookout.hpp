#pragma once
#include <atomic>
#include <functional>

#include "directory/folder.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"

namespace holdfast::directory {

/// Checks every two seconds whether the files are still those that were opened, on behalf of holders that make no
/// request, and refreshes them every ten minutes. (inotify would report a change at once, but an account has few of its
/// instances, and a thousand waiting processes would take them all.)
class lookout {
 public:
  /// `check` throws if they are not.
  lookout(std::function<void()> check, std::function<void()> refresh, runtime::loop&);
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;
  ~lookout();

  /// Somebody holds or waits from now on.
  void begin() noexcept;
  /// Whom the loop tells.
  void report_to(std::function<void()> whom);

 private:
  void look() noexcept;
  const std::function<void()> check_, refresh_;
  unsigned checks_ = 0;
  runtime::loop& loop_;
  descriptor timer_;
  std::atomic<bool> begun_{false};
  runtime::guarded<std::function<void()>> whom_;
};

}  // namespace holdfast::directory
