#include "top/draw.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "text/state.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

// Alternate screen, hidden cursor, no line wrap.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Returns false if the terminal is gone.
bool put(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    if (n >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd room{STDOUT_FILENO, POLLOUT, 0};  // another process has set O_NONBLOCK on the shared description
    ::poll(&room, 1, -1);
  }
  return true;
}

}  // namespace

screen::screen() { enter(); }

/// SIGTTOU is normally blocked, which would let us change the modes from the background. Unblocked, it stops us until
/// we are in the foreground.
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
    set_modes(now);  // we are in the foreground from here on, so the modes read next are current
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) fail("the terminal");
  }
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);  // not ISIG: Ctrl-C and Ctrl-Z work as usual
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

namespace {

using view = top_model::view;
using time_point = std::chrono::system_clock::time_point;
using screen_lines = std::vector<std::string>;

constexpr std::string_view mark = "> ", no_mark = "  ";
constexpr std::string_view key_hints = "q quit  enter details  / search  w waiters t time a age n name  r ask  b break";
constexpr std::string_view detail_key_hints = "q quit  esc back  r ask  b break";

/// A small window omits the header first, then the title and the footer, to leave room for names.
bool has_title(const window& w) noexcept { return w.rows >= 4; }
bool has_header(const window& w) noexcept { return w.rows >= 7; }
bool has_footer(const window& w) noexcept { return w.rows >= 2; }

std::string title(const top_model& m) {
  if (!m.trouble().empty()) return "no answer: " + printable(m.trouble());
  std::size_t waiting = 0;
  for (const listing::entry& each : m.names()) waiting += each.now.waiting;
  std::string text = std::to_string(m.names().size()) + (m.names().size() == 1 ? " name, " : " names, ");
  text += std::to_string(waiting) + " waiting; by ";
  constexpr std::string_view orders[] = {"waiters", "wait time", "age", "name"};
  text += orders[static_cast<std::size_t>(m.by())];
  if (!m.search().empty()) text += "; /" + printable(m.search()) + ": " + std::to_string(m.found().size());
  return text;
}

screen_lines list(const top_model& m, std::size_t rows, const window& w, const style& s, time_point now) {
  const table all = lock_table(w.columns - std::min(w.columns, mark.size()));
  screen_lines drawn;
  if (has_header(w) && rows > 1) drawn.push_back(s.bold(cut(std::string(no_mark) + all.header(), w.columns)));
  const std::size_t room = rows - drawn.size();
  const std::size_t first = m.selected() / room * room;
  for (std::size_t at = first; at < m.found().size() && drawn.size() < rows; ++at) {
    const listing::entry& each = m.names()[m.found()[at]];
    const bool selected = at == m.selected();
    const std::string row = std::string(selected ? mark : no_mark) + all.row(lock_cells(each.name, each.now, now));
    const std::string text = cut(row, w.columns);
    drawn.push_back(selected ? s.inverse(text) : each.now.waiting > 0 ? s.yellow(text) : text);
  }
  return drawn;
}

screen_lines details(const top_model& m, std::size_t rows, const window& w, time_point now) {
  if (!m.details()) return {cut(printable(m.details_of()) + ": looking", w.columns)};
  screen_lines all;
  for (const std::string& line : describe(m.details_of(), *m.details(), now)) {
    for (std::string& part : wrap_columns(line, w.columns)) all.push_back(std::move(part));
  }
  const std::size_t first = std::min(m.scrolled(), all.size() - std::min(all.size(), rows));
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  if (all.size() > rows) all.resize(rows);
  return all;
}

/// Keeps the last lines if there is no room for all: they contain the input.
screen_lines footer(const top_model& m, const window& w, const style& s) {
  if (const std::string asked = m.prompt(); !asked.empty()) {
    screen_lines all = wrap_columns(asked, w.columns);
    if (all.size() > w.rows) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(w.rows));
    return all;
  }
  if (!has_footer(w)) return {};
  if (!m.message().empty()) return {s.bold(cut(printable(m.message()), w.columns))};
  return {s.dim(cut(m.now() == view::details ? detail_key_hints : key_hints, w.columns))};
}

}  // namespace

std::size_t names_in(const window& w) noexcept {
  const std::size_t others = (has_title(w) ? 1U : 0U) + (has_header(w) ? 1U : 0U) + (has_footer(w) ? 1U : 0U);
  return std::max<std::size_t>(w.rows - std::min(w.rows, others), 1);
}

std::vector<std::string> draw(const top_model& m, const window& w, const style& s, time_point now) {
  screen_lines below = footer(m, w, s);
  screen_lines all;
  if (has_title(w) && below.size() + 1 < w.rows) {
    const std::string text = cut(title(m), w.columns);
    all.push_back(m.trouble().empty() ? s.bold(text) : s.red(text));
  }
  const std::size_t rows = w.rows - std::min(w.rows, all.size() + below.size());
  const bool detailed = !m.details_of().empty();
  if (rows > 0) {
    screen_lines middle = detailed ? details(m, rows, w, now) : list(m, rows, w, s, now);
    std::move(middle.begin(), middle.end(), std::back_inserter(all));
  }
  all.resize(w.rows - std::min(w.rows, below.size()));
  std::move(below.begin(), below.end(), std::back_inserter(all));
  return all;
}

}  // namespace holdfast::cli
