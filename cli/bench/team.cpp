#include "bench/team.hpp"

#include <exception>
#include <holdfast/limit.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::cli {

namespace {

histogram repeat(const turn& once, const counting& w, const std::stop_token& stop) {
  histogram times;
  while (!w.over) {
    const bool counts = w.counts;
    const auto began = boot_clock::now();
    if (once(stop) && counts) times.add(boot_clock::now() - began);
  }
  return times;
}

/// Whatever happens, nobody is left at work.
struct closing {
  counting& w;
  std::stop_source& stop;
  stopwatch& watch;
  bool regular = false;
  ~closing() {
    w.over = true;
    // At the regular end all finish their turns, which count: the longest would be missing else.
    if (!regular || watch.stopped_by() != 0) stop.request_stop();
  }
};

}  // namespace

void measure_in_threads(unsigned threads, const std::function<turn(unsigned me)>& turn_of, stopwatch& watch,
                        measurement& m) {
  counting w;
  flag failed;
  std::stop_source stop;
  std::mutex mutex;
  std::exception_ptr why;
  const auto work = [&](unsigned me) {
    try {
      const histogram mine = repeat(turn_of(me), w, stop.get_token());
      const std::lock_guard lock(mutex);
      m.times.add(mine);
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex);
      if (!why) why = std::current_exception();
      failed.set();
    }
  };
  {
    std::vector<std::jthread> all;
    closing at_the_end{w, stop, watch};
    for (unsigned me = 0; me < threads; ++me) all.emplace_back(work, me);
    m.counted = watch.run(m.part, w, failed);
    at_the_end.regular = true;
  }
  if (why) std::rethrow_exception(why);
}

}  // namespace holdfast::cli
