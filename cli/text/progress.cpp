#include "text/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "text/style.hpp"

namespace holdfast::cli {

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
