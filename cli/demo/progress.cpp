#include "demo/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::cli {

progress::progress(std::string what, int all)
    : what_(std::move(what)), all_(std::max(all, 1)), live_(::isatty(STDOUT_FILENO) == 1) {}

progress::~progress() {
  if (!live_) return;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

void progress::show(int now) {
  if (!live_) return;
  constexpr int width = 30;
  const int full = std::min(width, width * now / all_);
  std::printf("\r  %s [%s%s] %d\033[K", what_.c_str(), std::string(static_cast<std::size_t>(full), '#').c_str(),
              std::string(static_cast<std::size_t>(width - full), '.').c_str(), now);
  std::fflush(stdout);
}

}  // namespace holdfast::cli
