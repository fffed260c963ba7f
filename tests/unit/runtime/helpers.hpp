#pragma once
#include <fcntl.h>

#include <vector>

#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"

/// Helpers that several sources of this folder share.
namespace holdfast::runtime {

inline bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

/// Appends `who` when `until` has passed, but not if it was woken early or for another reason.
inline task<void> sleep_and_tell(io& i, instant until, int who, std::vector<int>& order) {
  const wake why = co_await sleep(i, limit(until));
  if (why == wake::late && i.now() >= until) order.push_back(who);
}

}  // namespace holdfast::runtime
