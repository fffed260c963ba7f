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

/// The whole of the terminal that is our standard input and output. While we have it, keys come one by one and are not
/// shown, and what stood there before is kept. For as long as caught_signals is there.
class screen {
 public:
  /// In the background it stops us, as a shell expects, until we are in the foreground. Throws std::system_error: it is
  /// gone, or nobody can bring us there.
  screen();
  ~screen() { leave(); }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  /// As it was when we came. Before we stop, or end.
  void leave() noexcept;
  /// Again; for whoever was stopped, too, without having left.
  void enter();
  /// Its size may have changed: what stands there is not known any more.
  void forget() noexcept { shown_.clear(); }
  [[nodiscard]] window size() const noexcept;
  /// Writes the lines that are not there yet.
  void show(const std::vector<std::string>& lines);

 private:
  void set_modes(const termios&) const;
  termios before_{};
  bool ours_ = false;
  std::vector<std::string> shown_;
};

/// The screen: a line for each row of the window, none wider than it. Knows no terminal.
[[nodiscard]] std::vector<std::string> draw(const top_model&, const window&, const style&,
                                            std::chrono::system_clock::time_point now);
/// How many names are seen at once in a window of that size.
[[nodiscard]] std::size_t names_in(const window&) noexcept;

}  // namespace holdfast::cli
