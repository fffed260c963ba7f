#include "runtime/thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace holdfast::runtime {

std::thread start_thread(const char* name, std::function<void()> body) {
  struct no_signals {
    sigset_t before{};
    no_signals() noexcept {
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } blocked;  // inherited by the new thread
  std::thread started(std::move(body));
  ::pthread_setname_np(started.native_handle(), name);
  return started;
}

}  // namespace holdfast::runtime
