#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "command.hpp"
#include "hold/options.hpp"
#include "process/io.hpp"
#include "process/watched_process.hpp"

namespace holdfast::cli {

/// `holdfast acquire NAME...`: starts a keeper, a process that holds the lock on behalf of another process.
struct acquire_options {
  hold_options hold{};
  std::optional<pid_t> hold_for{};  ///< the process that the lock is held for; empty: our parent
  int on_lost = 0;                  ///< the signal sent to that process when the lock is lost; 0: none
  bool json = false;
};

/// `holdfast release NAME`: asks the keeper to release the lock.
struct release_options {
  store_option store{};
  name_argument name{};  ///< if it holds several names, the first one
  std::string owner{};
  std::uint64_t fence = 0;  ///< 0: identified by the owner
  bool quiet = false;
};

/// See command.hpp.
[[nodiscard]] command_spec describe_acquire(const user_command& after_dashes);
[[nodiscard]] command_spec describe_release(const user_command& after_dashes);

/// Acquires the lock and leaves the keeper running. Returns the exit code.
[[nodiscard]] int acquire(const acquire_options&);
/// Returns the exit code. Throws lock_error.
[[nodiscard]] int release(const release_options&);
/// Runs the keeper, in a process that is not waited for: acquires the lock, writes events to `caller` (as for
/// --status-fd) and, once the caller has confirmed, holds the lock until `target` has ended. Returns the exit code.
[[nodiscard]] int run_keeper(const acquire_options&, watched_process& target, int caller);

/// Receives release requests for a keeper: an abstract Unix socket, visible in this machine's network namespace, with
/// the owner id in its name. The id is random and used once, so the name identifies one keeper, and the kernel removes
/// it with the process.
class control_socket {
 public:
  /// Throws std::system_error.
  explicit control_socket(const std::string& owner);
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }  ///< readable when a request may be pending
  /// A request of our user or of root. Closing it closes the connection.
  struct request {
    descriptor from;
    std::string name;  ///< the name to release
  };
  [[nodiscard]] std::optional<request> open() const;
  /// Sends the exit code of the release.
  static void reply(const request&, int code) noexcept;

  /// Client side: asks the keeper of this owner to release `name` and waits until it has ended. Returns its exit code,
  /// or `usage` if it holds another name and continues. Returns nothing if there is no keeper of our user or root.
  /// Throws std::system_error if the keeper does not answer in time or rejects us.
  [[nodiscard]] static std::optional<int> send_release(const std::string& owner, const std::string& name,
                                                       std::chrono::milliseconds patience);

 private:
  descriptor fd_;
};

}  // namespace holdfast::cli
