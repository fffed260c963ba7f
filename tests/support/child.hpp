#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>

#include "support/bounds.hpp"

namespace holdfast::test {

/// A forked child that runs `body`, which returns whether it passed. It exits without the destructors of the parent's
/// objects.
class child {
 public:
  template <class F>
  explicit child(F body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::alarm(static_cast<unsigned>(hang.count()));
    bool well = false;
    try {
      well = body();
    } catch (const std::exception& e) {
      std::cerr << "in the child: " << e.what() << std::endl;
    }
    ::_exit(well ? 0 : 1);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { (void)ends_well(); }

  void kill() const { signal(SIGKILL); }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);  // not after its end: -1 means all processes
  }
  /// Stops it and returns when it has stopped.
  void stop() const {
    signal(SIGSTOP);
    while (::waitpid(pid_, nullptr, WUNTRACED) < 0 && errno == EINTR) {
    }
  }

  /// Waits for its end.
  [[nodiscard]] bool ends_well() {
    if (pid_ > 0) {
      while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
      }
    }
    pid_ = -1;
    return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

 private:
  pid_t pid_;
  int status_ = -1;
};

/// EXPECT for a child process, whose failures would not be reported.
#define HOLDFAST_SHOULD(condition)                                                            \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::cerr << __FILE__ << ":" << __LINE__ << ": in the child: " #condition << std::endl; \
      return false;                                                                           \
    }                                                                                         \
  } while (false)

}  // namespace holdfast::test
