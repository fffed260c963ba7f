#pragma once
#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "process/io.hpp"
#include "text/table.hpp"
#include "top/model.hpp"

namespace holdfast::cli {

/// The full screen of the terminal on stdin and stdout. Keys are read one by one without echo, and the previous screen
/// is restored at the end. Needs caught_signals.
class screen {
 public:
  /// Stops the process while it is in the background, as shells expect. Throws std::system_error if the terminal is
  /// gone or no shell can move us to the foreground.
  screen();
  ~screen() { leave(); }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  /// Restores the terminal, before a stop or the end.
  void leave() noexcept;
  /// Takes the terminal again. Also for a process that was stopped without leave().
  void enter();
  /// Discards what is known about the screen content, for example after a resize.
  void forget() noexcept { shown_.clear(); }
  [[nodiscard]] window size() const noexcept;
  /// Writes the lines that have changed.
  void show(const std::vector<std::string>& lines);

 private:
  void set_modes(const termios&) const;
  termios before_{};
  bool ours_ = false;
  std::vector<std::string> shown_;
};

/// Returns one line for each row of the window, none wider than it. Does not use the terminal.
[[nodiscard]] std::vector<std::string> draw(const top_model&, const window&, const style&,
                                            std::chrono::system_clock::time_point now);
/// The number of names that fit into the window.
[[nodiscard]] std::size_t names_in(const window&) noexcept;

}  // namespace holdfast::cli
