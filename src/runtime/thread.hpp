#pragma once
#include <functional>
#include <thread>

namespace holdfast::runtime {

/// Starts a named thread with all signals blocked, since signals belong to the program. Throws std::system_error.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace holdfast::runtime
