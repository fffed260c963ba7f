// A holder is notified when its lease has ended, and the resource rejects its late write.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <latch>
#include <mutex>

using namespace std::chrono_literals;

// [resource]
class ledger {
 public:
  bool add(int amount, std::uint64_t fence) {
    std::scoped_lock lock{mutex_};  // the check and the access are one step
    if (!gate_.admit(fence)) return false;
    sum_ += amount;
    return true;
  }

 private:
  std::mutex mutex_;
  holdfast::fence_gate gate_;
  int sum_ = 0;
};
// [/resource]

int main() {
  ledger book;
  std::latch lost{1};
  holdfast::store store = holdfast::open("memory:");
  // [loss]
  holdfast::lease slow = store.acquire("ledger", {.ttl = 50ms, .renew = false});  // gone after 50 ms
  const std::stop_callback on_loss{slow.lost_token(), [&] { lost.count_down(); }};
  lost.wait();  // the holder sleeps too long
  holdfast::lease next = store.acquire("ledger");
  const bool admitted = book.add(10, next.fence());
  const bool refused = !slow.held() && !book.add(1, slow.fence());  // its fence is lower than that of `next`
  // [/loss]
  return admitted && refused && slow.release() == holdfast::released::lost ? 0 : 1;
}
