// Callbacks and coroutines run on the program's own executor, here its main thread.
#include <holdfast/holdfast.hpp>

#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

struct main_queue {
  void post(std::function<void()> f) {
    std::scoped_lock lock{mutex};
    waiting.push(std::move(f));
    changed.notify_one();
  }
  void run_one() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return !waiting.empty(); });
    const auto f = std::move(waiting.front());
    waiting.pop();
    lock.unlock();
    f();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::queue<std::function<void()>> waiting;
};

int main() {
  // [executor]
  main_queue queue;  // it outlives the store
  holdfast::store store = holdfast::open("memory:", {.executor = [&](auto f) { queue.post(std::move(f)); }});
  // [/executor]
  std::thread::id ran_on;
  const auto note_thread = [&](auto, auto) { ran_on = std::this_thread::get_id(); };
  store.async_try_acquire("a", holdfast::within(std::chrono::seconds(1)), {}, note_thread);
  queue.run_one();
  return ran_on == std::this_thread::get_id() ? 0 : 1;
}
