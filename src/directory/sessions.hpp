#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "directory/folder.hpp"
#include "runtime/fork.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"

namespace holdfast::directory {

/// Locks on single bytes of a file. They belong to the open file, not to the process, and the kernel drops them when
/// the file is closed, however its process ends. A child does not inherit the file: it would keep the locks.
class byte_locks {
 public:
  /// Creates the file if it does not exist. Throws storage::failure.
  byte_locks(const folder&, const std::string& name);

  /// Returns false if the byte is locked through another descriptor. Throws std::system_error.
  [[nodiscard]] bool try_lock(std::int64_t at);
  void unlock(std::int64_t at) noexcept;
  /// Returns true if one of these bytes is locked through another descriptor. Throws std::system_error.
  [[nodiscard]] bool is_locked(std::int64_t at, std::int64_t bytes = 1) const;
  [[nodiscard]] bool is_any_locked() const { return is_locked(0, 0); }  // 0 bytes: up to the end
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] identity file() const;

 private:
  const std::string path_;
  const descriptor fd_;
  const runtime::closed_in_children private_{fd_.get()};
};

using session_id = std::int64_t;

/// The file in which each live client has one byte locked. The kernel drops the lock when the client ends, however it
/// ends.
class sessions {
 public:
  explicit sessions(const folder& in) : bytes_(in, "sessions") {}  ///< throws storage::failure

  /// Locks the byte of this client. Called once. Returns false if the byte is locked already. Throws std::system_error.
  [[nodiscard]] bool begin(session_id id) {
    if (!bytes_.try_lock(id)) return false;
    own_ = id;
    return true;
  }
  [[nodiscard]] session_id own() const noexcept { return own_; }
  /// Throws std::system_error.
  [[nodiscard]] bool alive(session_id id) const { return id == own_ || bytes_.is_locked(id); }
  /// Returns true if another client is alive. Throws std::system_error.
  [[nodiscard]] bool any_other() const { return bytes_.is_any_locked(); }
  /// The file that was opened. Throws std::system_error.
  [[nodiscard]] identity file() const { return bytes_.file(); }

 private:
  byte_locks bytes_;
  session_id own_ = 0;
};

/// The process of a session. The numbers are 0 if they are not known.
struct process {
  session_id session = 0;
  std::int64_t pid = 0;
  std::int64_t pid_namespace = 0;
};
[[nodiscard]] std::int64_t own_pid_namespace();

/// Sets a signal when one of some processes has ended. Skips the calling process, which outlives the watch.
class pidfd_watch {
 public:
  pidfd_watch(runtime::loop&, const sessions&, std::int64_t pid_namespace, const std::vector<process>&,
              runtime::signal&);
  pidfd_watch(const pidfd_watch&) = delete;
  pidfd_watch& operator=(const pidfd_watch&) = delete;
  ~pidfd_watch();

  /// Returns false if some processes cannot be watched, because they are in another pid namespace or no descriptor is
  /// left. The caller polls any_unwatched_ended() for these.
  [[nodiscard]] bool watches_all() const noexcept { return unwatched_.empty(); }
  [[nodiscard]] bool any_unwatched_ended() const noexcept;

 private:
  [[nodiscard]] bool watch(const process&, runtime::signal&) noexcept;
  runtime::loop& loop_;
  const sessions& sessions_;
  std::vector<runtime::descriptor> watched_;
  std::vector<session_id> unwatched_;
};

}  // namespace holdfast::directory
