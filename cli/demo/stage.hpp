#pragma once
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>

namespace holdfast::cli {

/// What the sellers and whoever watches them can all see: a page of shared memory.
class stage {
 public:
  static constexpr int nobody = -1;

  std::atomic<int> sold{0};                        ///< sales so far, of all
  std::atomic<int> failed{0};                      ///< sellers that gave up for another reason than that all is sold
  std::atomic<int> shall_freeze{nobody};           ///< this seller is to stand still with the lock in hand
  std::atomic<int> frozen{nobody};                 ///< it does
  std::atomic<bool> thaw{false};                   ///< it may go on
  std::atomic<std::int64_t> killed{0};             ///< when a seller was, on the boot clock
  std::atomic<std::int64_t> first_grant_after{0};  ///< when somebody got the lock for the first time after that
  std::atomic<std::uint64_t> frozen_fence{0};
  std::atomic<std::uint64_t> last_fence{0};
  std::atomic<int> refused{0};  ///< writes that the office refused

  /// Shared with the children; gone with the last of them. Throws std::system_error.
  [[nodiscard]] static stage& make() {
    void* page = ::mmap(nullptr, sizeof(stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return *new (page) stage;
  }
};

}  // namespace holdfast::cli
