#include "text/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "text/utf8.hpp"

namespace holdfast::cli {

table::table(std::vector<column> columns, std::optional<std::size_t> width)
    : columns_(std::move(columns)), shown_(columns_.size(), true), cuts_(width.has_value()) {
  if (!width) return;
  drop_until_it_fits(*width);
  share_out(*width);
}

void table::drop_until_it_fits(std::size_t width) {
  for (;;) {
    std::size_t all = 0, count = 0, least = columns_.size();
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      if (!shown_[at]) continue;
      all += columns_[at].width + (count++ > 0 ? 1 : 0);
      if (least == columns_.size() || columns_[at].needed < columns_[least].needed) least = at;
    }
    if (all <= width || count <= 1) return;
    shown_[least] = false;
  }
}

/// Distributes the remaining width evenly among the growing columns; the last one gets the remainder.
void table::share_out(std::size_t width) {
  std::size_t used = 0, count = 0, growing = 0;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (!shown_[at]) continue;
    used += columns_[at].width + (count++ > 0 ? 1 : 0);
    if (columns_[at].grows) ++growing;
  }
  if (used > width) {  // a single column is left, which gets all
    columns_[static_cast<std::size_t>(std::find(shown_.begin(), shown_.end(), true) - shown_.begin())].width = width;
    return;
  }
  std::size_t rest = width - used;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (!shown_[at] || !columns_[at].grows) continue;
    const std::size_t part = rest / growing--;
    columns_[at].width += part;
    rest -= part;
  }
}

std::string table::header() const {
  std::vector<std::string> titles;
  for (const column& each : columns_) titles.emplace_back(each.title);
  return row(titles);
}

std::string table::row(const std::vector<std::string>& cells) const {
  std::string line;
  bool first = true;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (!shown_[at]) continue;
    const column& c = columns_[at];
    const std::string text = cuts_ ? cut(cells[at], c.width) : cells[at];
    if (!std::exchange(first, false)) line += ' ';
    line += c.to_right ? pad_left(text, c.width) : pad_right(text, c.width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

namespace {

bool is_set(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() noexcept {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

style::style(std::FILE* stream) noexcept
    : terminal_(::isatty(::fileno(stream)) == 1 && !is_dumb()), colours_(terminal_ && !is_set("NO_COLOR")) {}

std::string style::in(std::string_view code, std::string_view text) const {
  if (!colours_) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string style::bold(std::string_view text) const { return in("1", text); }
std::string style::dim(std::string_view text) const { return in("2", text); }
std::string style::red(std::string_view text) const { return in("31", text); }
std::string style::green(std::string_view text) const { return in("32", text); }
std::string style::yellow(std::string_view text) const { return in("33", text); }
std::string style::inverse(std::string_view text) const { return in("7", text); }

progress::progress(std::string what, int all, std::string unit)
    : what_(std::move(what)), all_(std::max(all, 1)), unit_(std::move(unit)), live_(style(stdout).live()) {}

progress::~progress() {
  if (!live_) return;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

void progress::show(int now) {
  if (!live_) return;
  constexpr int width = 30;
  const int full = std::min(width, width * now / all_);
  std::printf("\r  %s [%s%s] %d%s\033[K", what_.c_str(), std::string(static_cast<std::size_t>(full), '#').c_str(),
              std::string(static_cast<std::size_t>(width - full), '.').c_str(), now, unit_.c_str());
  std::fflush(stdout);
}

}  // namespace holdfast::cli
