#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "command.hpp"
#include "holding/options.hpp"
#include "process/io.hpp"
#include "process/process_end.hpp"

namespace holdfast::cli {

/// `holdfast acquire NAME...`: leaves a keeper behind, a process that holds the lock for another one.
struct acquire_options {
  hold_options hold{};
  std::optional<pid_t> hold_for{};  ///< whose lock it is; nothing: our parent's
  int on_lost = 0;                  ///< the signal that it gets when the lock is lost; 0: none
  bool json = false;
};

/// `holdfast release NAME`: tells a keeper to let go.
struct release_options {
  store_option store{};
  name_argument name{};  ///< of several names, the first
  std::string owner{};
  std::uint64_t fence = 0;  ///< 0: by the owner
  bool quiet = false;
};

/// See command.hpp.
[[nodiscard]] command_spec describe_acquire(const user_command& after_dashes);
[[nodiscard]] command_spec describe_release(const user_command& after_dashes);

/// To the end; the keeper stays. Returns the exit code.
[[nodiscard]] int acquire(const acquire_options&);
/// To the end. Returns the exit code. Throws lock_error.
[[nodiscard]] int release(const release_options&);
/// The keeper, in a process of its own that nobody waits for: gets the lock, tells `caller` what happens (as status
/// does, the lines of a --status-fd), and holds it, once the caller has answered, until `whom` is gone. Returns the
/// exit code.
[[nodiscard]] int keep(const acquire_options&, process_end& whom, int caller);

/// Where a keeper is told to let go: an abstract socket of this machine (of its network namespace) with the owner's id
/// in its name. The id is random and used once, so nobody else can be meant; and the kernel takes the name away with
/// the process.
class door {
 public:
  /// Throws std::system_error.
  explicit door(const std::string& owner);
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }  ///< readable: somebody may be there
  /// Whoever is there and may ask: our user, or root. The reply is for as long as this is open.
  struct visitor {
    descriptor from;
    std::string name;  ///< what is to be let go
  };
  [[nodiscard]] std::optional<visitor> open() const;
  /// With this exit code of ours it is over.
  static void reply(const visitor&, int code) noexcept;

  /// The other side: asks the keeper of that owner to let go of that name, and waits for its end. Returns its exit
  /// code; usage: it holds another name, and goes on. Nothing: there is none here, of our user or
  /// of root. Throws std::system_error: it did not
  /// answer in time, or we are not its user.
  [[nodiscard]] static std::optional<int> knock(const std::string& owner, const std::string& name,
                                                std::chrono::milliseconds patience);

 private:
  descriptor fd_;
};

}  // namespace holdfast::cli
