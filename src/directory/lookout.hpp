#pragma once
#include <functional>

#include "directory/folder.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"

namespace holdfast::directory {

/// Notices, on the loop, that a file of the store is deleted or moved away under it.
class lookout {
 public:
  lookout(const folder&, runtime::loop&);
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;
  ~lookout();

  void report_to(std::function<void()> doubt);

 private:
  void read();
  runtime::loop& loop_;
  descriptor events_;
  runtime::guarded<std::function<void()>> doubt_;
};

}  // namespace holdfast::directory
