#pragma once
#include <chrono>
#include <string>

#include "run/run.hpp"

namespace holdfast::cli {

/// When a command is stopped whose lock has a deadline: asked `grace` and `margin` before it, killed `margin` before
/// it.
struct stopping {
  explicit stopping(const run_options&);
  std::chrono::milliseconds grace;
  std::chrono::microseconds margin;  ///< for the signal to arrive in
  [[nodiscard]] std::chrono::microseconds all() const noexcept { return grace + margin; }
};

/// The lease is renewed as long as the command runs, and not made for all of --max-hold at once.
[[nodiscard]] bool is_renewed(const run_options&) noexcept;

/// What is wrong with the options together, whatever the store; empty: nothing.
[[nodiscard]] std::string contradiction(const run_options&);
/// What is wrong with --ttl and --grace together, on a store that needs a ttl; empty: nothing.
[[nodiscard]] std::string too_much_grace(const run_options&);

}  // namespace holdfast::cli
