#include <holdfast/holdfast.hpp>
#include <memory>
#include <thread>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

/// Pairs per second by one thread.
template <class Pair>
double pairs_a_second(Pair pair) {
  std::uint64_t pairs = 0;
  const seconds began = now(), end = began + 200ms;
  for (; now() < end; ++pairs) pair();
  return static_cast<double>(pairs) / (now() - began).count();
}

void uncontended(const redis_server& server, std::vector<figure>& all) {
  holdfast::store store = holdfast::open(server.url());
  holdfast::mutex whole{store, "whole"};
  holdfast::shared_mutex shared{store, "shared"};
  holdfast::semaphore permits{store, "permits", 8};
  std::vector<double> of_whole, of_reader, of_permit, reader, permit;
  for (int slice = 0; slice < 15; ++slice) {
    of_whole.push_back(pairs_a_second([&] {
      whole.lock();
      whole.unlock();
    }));
    of_reader.push_back(pairs_a_second([&] {
      shared.lock_shared();
      shared.unlock_shared();
    }));
    of_permit.push_back(pairs_a_second([&] {
      permits.acquire();
      permits.release();
    }));
    reader.push_back(of_whole.back() / of_reader.back());
    permit.push_back(of_whole.back() / of_permit.back());
  }
  all.push_back({"redis, mutex, lock+unlock", median(of_whole), "pairs/s"});
  all.push_back({"redis, shared_mutex, lock_shared+unlock_shared", median(of_reader), "pairs/s"});
  all.push_back({"redis, semaphore, acquire+release", median(of_permit), "pairs/s"});
  all.push_back({"redis, reader to mutex, time", median(reader), "x", "at most 1.3", median(reader) <= 1.3});
  all.push_back({"redis, permit to mutex, time", median(permit), "x", "at most 1.3", median(permit) <= 1.3});
}

/// The server's CPU time for one release among many readers, as reported by the server.
void crowd(const redis_server& server, std::vector<figure>& all) {
  constexpr int readers = 5'000;
  holdfast::store store = holdfast::open(server.url());
  std::vector<holdfast::lease> in;
  for (int n = 0; n < readers; ++n) in.push_back(store.acquire("crowd", {.ttl = 1h, .shared = true}));
  const bare_socket socket(server.port());
  (void)socket.ask(resp({"CONFIG", "RESETSTAT"}));
  for (int n = 0; n < 1'000; ++n) {
    (void)in.back().release();
    in.pop_back();
  }
  const std::string stats = socket.ask(resp({"INFO", "commandstats"}));
  const std::size_t at = stats.find("usec_per_call=", stats.find("cmdstat_evalsha:"));
  const double us = std::stod(stats.substr(at + 14));
  all.push_back({"redis, 5000 readers, one unlock, the server's time", us / 1000, "ms", "at most 0.1", us <= 100});
}

}  // namespace

void redis_shares(std::vector<figure>& all) {
  const redis_server server;
  uncontended(server, all);
  crowd(server, all);
}

}  // namespace bench
