#include "holding/queue.hpp"

#include <unistd.h>

#include <algorithm>

namespace holdfast::cli {

std::optional<std::size_t> waiting_before_us(const store& in, std::string_view name, const std::string& label) {
  try {
    const state is = in.inspect(name);
    const auto ours = [&](const state::party& who) { return who.label == label && who.pid == ::getpid(); };
    const auto at = std::ranges::find_if(is.waiters, ours);
    if (at == is.waiters.end()) return std::nullopt;
    return static_cast<std::size_t>(at - is.waiters.begin());
  } catch (const lock_error&) {
    return std::nullopt;
  }
}

}  // namespace holdfast::cli
