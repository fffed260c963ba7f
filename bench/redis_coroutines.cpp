#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <holdfast/holdfast.hpp>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int coroutines = 64;

/// A coroutine that starts at once and is not awaited.
struct job {
  struct promise_type {
    job get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

struct race {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> pairs{0};
  std::latch done{coroutines};
};

job take_turns(holdfast::store store, std::string name, race& r) {
  std::uint64_t mine = 0;
  for (; !r.over.load(std::memory_order_relaxed); ++mine) {
    holdfast::lease held = co_await store.async_acquire(name);
    const holdfast::released end = co_await held.async_release();
    if (end != holdfast::released::yes) std::terminate();
  }
  r.pairs += mine;
  r.done.count_down();
}

double by_coroutines(holdfast::store& store) {
  race r;
  const seconds began = now();
  for (int n = 0; n < coroutines; ++n) take_turns(store, "shelf/" + std::to_string(n), r);
  std::this_thread::sleep_for(200ms);
  r.over = true;
  r.done.wait();
  return static_cast<double>(r.pairs) / (now() - began).count();
}

/// One socket: 64 locks are acquired in one write and released in one write, with our scripts, names and order but
/// without the library.
class pipeline {
 public:
  explicit pipeline(int port) : socket_(port) {
    for (int n = 0; n < coroutines; ++n) {
      const script_pair scripts(socket_, "bare/" + std::to_string(n));
      acquire_ += resp(scripts.acquire);
      release_ += resp(scripts.release);
    }
  }
  double pairs_a_second() {
    std::uint64_t pairs = 0;
    const seconds began = now(), end = began + 200ms;
    do {
      ask(acquire_);
      ask(release_);
      pairs += coroutines;
    } while (now() < end);
    return static_cast<double>(pairs) / (now() - began).count();
  }

 private:
  void ask(const std::string& requests) {  // each reply is a number on one line
    socket_.send(requests);
    for (std::ptrdiff_t lines = 0; lines < coroutines;) {
      const std::string came = socket_.receive();
      lines += std::count(came.begin(), came.end(), '\n');
      if (came.find('-') != std::string::npos) throw std::runtime_error(came);
    }
  }
  const bare_socket socket_;
  std::string acquire_, release_;
};

/// Commands per second of `redis-benchmark -c 1 -P 64` with this command, or 0 if it failed, which happens
/// occasionally.
double try_redis_benchmark(int port, const std::vector<std::string>& words) {
  std::string line = "redis-benchmark -p " + std::to_string(port) + " -c 1 -P 64 -n 20000 -r 1000000000 --csv";
  for (const std::string& w : words) line += " '" + w + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(::popen(line.c_str(), "r"), ::pclose);
  std::string text;
  for (int c = 0; out && (c = std::fgetc(out.get())) != EOF;) text += static_cast<char>(c);
  // A header, then "the command","its rate",...
  const std::size_t row = text.find('\n');
  const std::size_t rate = row == std::string::npos ? row : text.find("\",\"", row);
  return rate == std::string::npos ? 0 : std::stod(text.substr(rate + 3));
}

double by_redis_benchmark(int port, const std::vector<std::string>& words) {
  for (int tries = 0; tries < 5; ++tries) {
    if (const double rate = try_redis_benchmark(port, words); rate > 0) return rate;
  }
  throw std::runtime_error("redis-benchmark says nothing; is it installed?");
}

/// It repeats one command. Names are not reused, so the acquired lock is always free and the released one was never
/// held, which is less work than ours.
double by_redis_benchmark(const redis_server& server) {
  const bare_socket socket(server.port());
  const script_pair scripts(socket, "__rand_int__");
  const double acquired = by_redis_benchmark(server.port(), scripts.acquire);
  const double released = by_redis_benchmark(server.port(), scripts.release);
  (void)socket.ask(resp({"FLUSHALL"}));
  return 1 / (1 / acquired + 1 / released);
}

}  // namespace

void redis_coroutines(std::vector<figure>& all) {
  const redis_server server;
  holdfast::store store = holdfast::open(server.url());
  pipeline bare(server.port());
  std::vector<double> ours, pipelined, ratios, benchmark, to_benchmark;
  (void)by_coroutines(store);  // opens connections and loads scripts
  for (int slice = 0; slice < 15; ++slice) {
    ours.push_back(by_coroutines(store));
    pipelined.push_back(bare.pairs_a_second());
    ratios.push_back(ours.back() / pipelined.back());
    if (slice % 3 != 0) continue;  // takes longer, so it runs less often
    benchmark.push_back(by_redis_benchmark(server));
    to_benchmark.push_back(ours.back() / benchmark.back());
  }
  const std::string who = "redis, 64 coroutines";
  all.push_back({who + ", acquire+release of a lease", median(ours), "pairs/s"});
  all.push_back({who + ", a bare socket, 64 at a time", median(pipelined), "pairs/s"});
  const double ratio = median(ratios);
  all.push_back({who + ", rate, ratio", ratio, "x", "at least 0.8", ratio >= 0.8});
  all.push_back({who + ", redis-benchmark -c 1 -P 64, less work", median(benchmark), "pairs/s"});
  all.push_back({who + ", rate, ratio to redis-benchmark", median(to_benchmark), "x"});
}

}  // namespace bench
