#pragma once
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "holding/ending.hpp"
#include "holding/onlooker.hpp"
#include "holding/options.hpp"
#include "holding/status.hpp"
#include "holding/tenure.hpp"
#include "process/flag.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// Gets what the options want. Signals are heard meanwhile: those that end us make us leave the queue; so does the
/// ending, if there is one.
class acquisition {
 public:
  /// All must outlive it; the label is shown to others.
  acquisition(const hold_options&, store&, caught_signals&, const status&, onlooker&, std::string label,
              ending* until = nullptr);
  acquisition(const acquisition&) = delete;
  acquisition& operator=(const acquisition&) = delete;
  ~acquisition();  ///< closes the store: to be gone after what was had is given back

  /// Empty: see code(). Throws lock_error when the store fails.
  [[nodiscard]] std::optional<tenure> get();
  /// What to exit with when nothing was had: busy, or ended by a signal.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  using instant = boot_clock::time_point;
  [[nodiscard]] std::optional<tenure> ask_and_hear_signals();
  [[nodiscard]] std::optional<tenure> ask_as_told(const std::stop_token&);
  [[nodiscard]] std::optional<tenure> look(instant last, const std::stop_token&);
  [[nodiscard]] std::optional<tenure> ask_in_line(const limit&);
  [[nodiscard]] std::optional<tenure> ask(const limit&);
  void tell_busy();
  void say_who_holds_it();

  const hold_options& options_;
  store& store_;
  caught_signals& signals_;
  const status& status_;
  onlooker& onlooker_;
  const std::string label_;
  const lock_options how_;
  ending* const until_;
  instant say_at_ = instant::max();  // when whoever sits at the terminal is told why nothing happens
  flag waits_, answered_;
  int refusals_ = 0;
  std::optional<lock_error> refused_;  // by a store that did answer, but could not serve
  int code_ = 0;
  std::jthread saying_;  // the last member: it ends before what it looks at
};

}  // namespace holdfast::cli
