#include "runtime/executor.hpp"

#include <exception>
#include <new>
#include <utility>

namespace holdfast::runtime {

namespace {

thread_local int depth = 0;

void run_user_code(executor::function& f, const std::function<void(const char*)>& complain) noexcept {
  ++depth;
  try {
    f();
  } catch (const std::exception& e) {
    complain(e.what());
  } catch (...) {
    complain("something that is not a std::exception");
  }
  f = nullptr;  // destroys what it owns, possibly a lease, as user code too
  --depth;
}

}  // namespace

executor::executor(poster theirs, std::function<void(const char*)> complain)
    : theirs_(std::move(theirs)), complain_(std::move(complain)) {}

executor::fate executor::enqueue(function f) {
  function guarded = [f = std::move(f), complain = complain_]() mutable { run_user_code(f, complain); };
  try {
    if (theirs_) {
      theirs_(std::move(guarded));
    } else {
      notifier_.post(std::move(guarded));
    }
    return fate::posted;
  } catch (const std::bad_alloc&) {
    if (!theirs_) return fate::no_memory;
  } catch (...) {
    // The program's executor refuses, and user code may not run anywhere else, so the notification is lost. Locks stay
    // correct: held() reads the clock, and the library never waits for the executor.
  }
  return fate::refused;
}

bool executor::runs_here() noexcept { return depth > 0; }

}  // namespace holdfast::runtime
