#pragma once
#include <atomic>
#include <functional>

#include "directory/folder.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"

namespace holdfast::directory {

/// Looks every two seconds whether the files are still those that we opened, for those who hold a lock and have no
/// reason to ask. (inotify would tell at once, but an account has few of its instances, and a thousand waiting
/// processes would take them all.)
class lookout {
 public:
  lookout(std::function<void()> check, runtime::loop&);  ///< `check` throws when they are not
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;
  ~lookout();

  /// Somebody holds or waits from now on.
  void begin() noexcept;
  /// Whom the loop tells.
  void report_to(std::function<void()> whom);

 private:
  void look() noexcept;
  const std::function<void()> check_;
  runtime::loop& loop_;
  descriptor timer_;
  std::atomic<bool> begun_{false};
  runtime::guarded<std::function<void()>> whom_;
};

}  // namespace holdfast::directory
