#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace holdfast {

/// The resource's side of a fence: admits a number not lower than the highest it has seen. Ask it on reads as well as
/// on writes (a fence on writes alone still loses updates), in the same critical section as the read or write.
class fence_gate {
 public:
  [[nodiscard]] bool admit(std::uint64_t fence) noexcept {
    for (std::uint64_t top = top_.load(); fence >= top;) {
      if (top_.compare_exchange_weak(top, fence)) return true;
    }
    return false;
  }

 private:
  std::atomic<std::uint64_t> top_{0};
};

/// The same for a resource that processes of one machine share: the highest fence is kept, durably, in a small file
/// beside it, for as long as the fences come from one and the same store. The file lock that guards the number is held
/// while `access` runs, so that no access of a newer holder can fall between the check and the access.
class file_fence_gate {
 public:
  /// Creates the file if it is not there. Throws std::system_error.
  explicit file_fence_gate(std::string path);

  /// Runs `access` if the fence is admitted; false, without running it, if it is not. Threads and processes take turns.
  /// `access` must not call admit() in turn. Throws std::system_error, and whatever `access` throws.
  bool admit(std::uint64_t fence, const std::function<void()>& access) const;

 private:
  mutable std::mutex threads_;  // the file's lock is for processes, and for other objects
  std::string path_;
};

}  // namespace holdfast
