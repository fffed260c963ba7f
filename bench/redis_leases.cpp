#include <holdfast/holdfast.hpp>

#include "bench.hpp"
#include "held_leases.hpp"
#include "redis_server.hpp"

namespace bench {

void redis_leases(std::vector<figure>& all) {
  const auto hold = [&](std::size_t count, double most_cpu) {
    const redis_server server;
    holdfast::store store = holdfast::open(server.url());
    held_leases{.who = "redis, ", .memory = "memory each", .count = count, .most_cpu = most_cpu}.measure(store, all);
  };
  hold(10'000, 2);
  hold(100'000, 0);
}

}  // namespace bench
