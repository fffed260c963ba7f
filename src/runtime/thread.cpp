#include "runtime/thread.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace holdfast::runtime {

std::thread start_thread(const char* name, std::function<void()> body) try {
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
} catch (const std::system_error& e) {
  throw std::system_error(e.code(),
                          "a thread could not be started (EAGAIN); raise ulimit -u or the limit of the container, or "
                          "share one store in the process");
}

}  // namespace holdfast::runtime
