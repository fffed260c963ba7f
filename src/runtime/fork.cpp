#include "runtime/fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace holdfast::runtime {

namespace {

std::atomic<unsigned> forks{0};

struct private_descriptors {
  std::mutex mutex;
  std::vector<int> all;
};

private_descriptors& ours() {
  static auto* the_one = new private_descriptors;  // never destroyed: a fork may happen at any time
  return *the_one;
}

// The mutex is held during the fork, so that the child sees a consistent list.
const int registered = ::pthread_atfork([] { ours().mutex.lock(); }, [] { ours().mutex.unlock(); },
                                        [] {
                                          for (const int fd : ours().all) ::close(fd);
                                          ours().all.clear();
                                          ours().mutex.unlock();
                                          forks.fetch_add(1, std::memory_order_relaxed);
                                        });

}  // namespace

unsigned fork_generation() noexcept {
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

closed_in_children::closed_in_children(int fd) : fd_(fd) {
  const std::lock_guard lock(ours().mutex);
  ours().all.push_back(fd);
}

closed_in_children::~closed_in_children() {
  const std::lock_guard lock(ours().mutex);
  std::erase(ours().all, fd_);
}

}  // namespace holdfast::runtime
