#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace holdfast {

/// The resource's side of a fence: admits a number not lower than the highest it has seen. Ask it on reads as well as
/// on writes (a fence on writes alone still loses updates), in the same critical section as the read or write. 0 is no
/// fence, and is never admitted.
class fence_gate {
 public:
  [[nodiscard]] bool admit(std::uint64_t fence) noexcept {
    if (fence == 0) return false;  // of a lease that never held anything, or of a name that it does not have
    for (std::uint64_t top = top_.load(); fence >= top;) {
      if (top_.compare_exchange_weak(top, fence)) return true;
    }
    return false;
  }

 private:
  std::atomic<std::uint64_t> top_{0};
};

/// The same for many resources by name, as a server has them: one gate for each. They are in this process, and as
/// durable as it is: a server whose data outlives it keeps the highest fences with the data. A name is never forgotten.
class fence_gates {
 public:
  /// Runs `access` if the fence is admitted; false, without running it, if it is not. Those of one resource take turns,
  /// so that no access of a newer holder can fall between the check and the access. Throws what `access` throws, which
  /// must not ask for the same resource in turn.
  bool admit(std::string_view resource, std::uint64_t fence, const std::function<void()>& access);

 private:
  struct resource_gate {
    std::mutex turn;
    fence_gate highest;
  };
  [[nodiscard]] resource_gate& of(std::string_view resource);
  std::mutex mutex_;
  std::map<std::string, resource_gate, std::less<>> gates_;
};

/// The same for a resource that processes of one machine share: the highest fence is kept, durably, in a small file
/// beside it, for as long as the fences come from one and the same store. The file lock that guards the number is held
/// while `access` runs, so that no access of a newer holder can fall between the check and the access. Whoever deletes
/// the file makes the gate forget.
class file_fence_gate {
 public:
  /// Creates the file if it is not there, durably. Throws std::system_error.
  explicit file_fence_gate(std::string path);

  /// Runs `access` if the fence is admitted; false, without running it, if it is not. Threads and processes take turns.
  /// `access` must not call admit() in turn. Throws std::system_error, and whatever `access` throws.
  bool admit(std::uint64_t fence, const std::function<void()>& access) const;

 private:
  mutable std::mutex threads_;  // the file's lock is for processes, and for other objects
  std::string path_;
};

}  // namespace holdfast
