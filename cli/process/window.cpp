#include "process/window.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace holdfast::cli {

std::optional<window> window_of(int fd) noexcept {
  if (::isatty(fd) != 1) return std::nullopt;
  window is;
  winsize told{};
  if (::ioctl(fd, TIOCGWINSZ, &told) != 0) return is;
  if (told.ws_col > 0) is.columns = told.ws_col;
  if (told.ws_row > 0) is.rows = told.ws_row;
  return is;
}

}  // namespace holdfast::cli
