#pragma once
#include <csignal>

#include "process/io.hpp"

namespace holdfast::cli {

/// Those of the program, from now on read and not delivered.
class caught_signals {
 public:
  caught_signals();  ///< throws std::system_error
  /// The mask that was there before.
  [[nodiscard]] const sigset_t& before() const noexcept { return before_; }
  /// Our caller (nohup, or a shell for its background) has us ignore it. A blocked signal comes nevertheless.
  [[nodiscard]] bool ignored(int number) const noexcept { return ::sigismember(&ignored_, number) == 1; }
  /// As SIGTSTP does where it is not caught: where no shell could continue us (we lead the session, as in a container),
  /// the kernel does not stop us.
  void stop_here() const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next one; 0 if there is none.
  [[nodiscard]] int next() const noexcept;
  /// The last one that ends us, of those that have ever come; 0 if there is none. For as long as no command runs: the
  /// others are dropped, and we stop where we are told to.
  int asked_to_stop() noexcept;
  /// From now on we are a worker: whether to stop is its front's business.
  void leave_stopping_to_the_front() noexcept { stops_ = false; }

 private:
  sigset_t before_{}, ignored_{};
  descriptor fd_;
  int ends_us_ = 0;
  bool stops_ = true;
};

[[nodiscard]] bool ends_us(int number) noexcept;
/// Ends the process as this signal does, for whoever looks at how it ended.
void die_of(int number) noexcept;

}  // namespace holdfast::cli
