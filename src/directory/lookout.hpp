#pragma once
#include <atomic>
#include <functional>

#include "directory/folder.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"

namespace holdfast::directory {

/// Notices that files of the store are deleted or moved away under it: those who write ask, and the loop tells.
class lookout {
 public:
  lookout(const folder&, runtime::loop&);
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;
  ~lookout();

  /// True: something was deleted or moved away, since ever or since calm(). Cheap, and sure: the kernel has noted it
  /// before the deletion was over.
  [[nodiscard]] bool in_doubt() noexcept;
  void calm() noexcept { doubt_ = !works_; }  ///< before one looks at the files
  void alarm() noexcept { doubt_ = true; }    ///< they are not ours

  /// Whom the loop, or whoever finds out, tells.
  void report_to(std::function<void()> whom);

 private:
  void look() noexcept;
  runtime::loop& loop_;
  descriptor events_;
  bool works_ = false;
  std::atomic<bool> doubt_{true};
  runtime::guarded<std::function<void()>> whom_;
};

}  // namespace holdfast::directory
