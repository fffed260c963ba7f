#pragma once
#include <functional>
#include <thread>

namespace holdfast::runtime {

/// A named thread that takes no signals: those belong to the program. Throws std::system_error.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace holdfast::runtime
