#include "top/screen.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

namespace holdfast::cli {

namespace {

// Another screen, no cursor, and no line goes on in the next one.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// False: the terminal is gone.
bool put(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    if (n >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd room{STDOUT_FILENO, POLLOUT, 0};  // somebody shares it with us, and does not want to wait there
    ::poll(&room, 1, -1);
  }
  return true;
}

}  // namespace

screen::screen() { enter(); }

/// SIGTTOU is blocked in this program, and so would let us change the modes from the background, under the hands of
/// whoever has the foreground. Let through, it stops us there.
void screen::set_modes(const termios& modes) const {
  sigset_t it;
  ::sigemptyset(&it);
  ::sigaddset(&it, SIGTTOU);
  ::pthread_sigmask(SIG_UNBLOCK, &it, nullptr);
  int failed = 0;
  do {
    failed = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
  } while (failed != 0 && errno == EINTR);
  const int why = errno;
  ::pthread_sigmask(SIG_BLOCK, &it, nullptr);
  errno = why;
  if (failed != 0) fail("the terminal");
}

void screen::enter() {
  if (!ours_) {
    termios now{};
    if (::tcgetattr(STDIN_FILENO, &now) != 0) fail("the terminal");
    set_modes(now);  // from here on we are in the foreground, and see what it left there
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) fail("the terminal");
  }
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);  // not ISIG: Ctrl-C and Ctrl-Z are as everywhere
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  set_modes(raw);
  ours_ = true;
  forget();
  if (!put(enter_screen)) fail("the terminal");
}

void screen::leave() noexcept {
  if (!ours_) return;
  ours_ = false;
  (void)put(leave_screen);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

window screen::size() const noexcept { return window_of(STDOUT_FILENO).value_or(window()); }

void screen::show(const std::vector<std::string>& lines) {
  std::string text;
  const bool anew = shown_.size() != lines.size();
  if (anew) text += "\x1b[2J";
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!anew && lines[at] == shown_[at]) continue;
    text += "\x1b[" + std::to_string(at + 1) + ";1H\x1b[2K" + lines[at];
  }
  shown_ = lines;
  if (!put(text)) fail("the terminal");
}

}  // namespace holdfast::cli
