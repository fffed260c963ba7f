#include <algorithm>
#include <cstdio>
#include <random>
#include <thread>

#include "exit_code.hpp"
#include "free/free.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// From look to look it grows, so that a long wait costs the store little; and no two who wait keep in step.
class pause {
 public:
  [[nodiscard]] boot_clock::duration next() {
    const auto now = std::exchange(length_, std::min<boot_clock::duration>(length_ * 2, 500ms));
    return std::chrono::duration_cast<boot_clock::duration>(now * some_(random_));
  }

 private:
  boot_clock::duration length_ = 10ms;
  std::minstd_rand random_{std::random_device{}()};
  std::uniform_real_distribution<double> some_{0.75, 1.0};
};

}  // namespace

int wait_until_free(const free_options& o) {
  const hold_options& wanted = o.wanted;
  const auto last = wanted.wait ? within(*wanted.wait).at() : boot_clock::time_point::max();
  const store s = wanted.store.open({}, wanted.quiet);
  pause between;
  for (bool first = true;; first = false) {
    const std::vector<sight> seen = look(s, wanted, wanted.wait == 0ms ? for_one_look() : limit(last));
    const auto in_the_way = std::ranges::find(seen, false, &sight::free);
    if (in_the_way == seen.end()) return fine;
    if (first && wanted.verbose) std::fprintf(stderr, "holdfast: waiting for %s\n", in_words(*in_the_way).c_str());
    const auto now = boot_clock::now();
    if (now >= last) {
      if (!wanted.quiet) std::fprintf(stderr, "holdfast: busy: %s\n", in_words(*in_the_way).c_str());
      return busy;
    }
    std::this_thread::sleep_for(std::min(between.next(), last - now));
  }
}

}  // namespace holdfast::cli
