#pragma once
#include <csignal>
#include <optional>
#include <string>

namespace holdfast::cli {

/// What happens to the command when its lock is lost, or is about to be.
struct on_lost {
  int signal = SIGTERM;  ///< that it gets; 0: none, it runs on
  std::string line{};    ///< for the shell, before that; empty: nothing

  /// "term", "kill", "SIGHUP", "ignore", "exec:LINE"; nothing: it is none of these.
  [[nodiscard]] static std::optional<on_lost> of(const std::string& text);
};

}  // namespace holdfast::cli
