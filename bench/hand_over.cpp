#include <atomic>
#include <condition_variable>
#include <deque>
#include <holdfast/holdfast.hpp>
#include <mutex>
#include <thread>
#include <utility>

#include "bench.hpp"

namespace bench {

namespace {

/// A FIFO lock of the standard library's primitives, with one wake-up per hand-over.
class fifo_lock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (!taken_) {
      taken_ = true;
      return;
    }
    waiter mine;
    line_.push_back(&mine);
    mine.called.wait(guard, [&] { return mine.in; });
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    if (line_.empty()) {
      taken_ = false;
      return;
    }
    waiter* next = line_.front();
    line_.pop_front();
    next->in = true;
    next->called.notify_one();
  }

 private:
  struct waiter {
    std::condition_variable called;
    bool in = false;
  };
  std::mutex mutex_;
  std::deque<waiter*> line_;
  bool taken_ = false;
};

/// Changes of the holder per second, with this many threads at one lock. Repeated acquisitions by one thread do not
/// count.
template <class Lock>
double rate(Lock& lock, int threads) {
  std::atomic<bool> over{false};
  int last = -1;
  long changes = 0;
  std::vector<std::thread> all;
  const seconds began = now();
  for (int me = 0; me < threads; ++me) {
    all.emplace_back([&, me] {
      while (!over.load(std::memory_order_relaxed)) {
        std::scoped_lock guard{lock};
        if (std::exchange(last, me) != me) ++changes;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  over = true;
  for (auto& t : all) t.join();
  return static_cast<double>(changes) / (now() - began).count();
}

}  // namespace

void hand_over(std::vector<figure>& all) {
  for (const int threads : {4, 16, 64}) {
    holdfast::store store = holdfast::open("memory:");
    holdfast::mutex named{store, "train/001"};
    fifo_lock plain;
    std::vector<double> ours, theirs, ratios;
    for (int slice = 0; slice < 9; ++slice) {
      ours.push_back(rate(named, threads));
      theirs.push_back(rate(plain, threads));
      ratios.push_back(ours.back() / theirs.back());
    }
    const std::string who = std::to_string(threads) + " threads at one name";
    all.push_back({who + ", memory:", median(ours), "hand-overs/s"});
    all.push_back({who + ", queue of std::condition_variable", median(theirs), "hand-overs/s"});
    const double ratio = median(ratios);
    all.push_back({who + ", ratio", ratio, "x", "at least 0.7", ratio >= 0.7});
  }
}

}  // namespace bench
