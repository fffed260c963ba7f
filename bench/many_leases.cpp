#include <holdfast/holdfast.hpp>

#include "bench.hpp"
#include "held_leases.hpp"

namespace bench {

void many_leases(std::vector<figure>& all) {
  for (const std::size_t count : {10'000u, 100'000u}) {
    holdfast::store store = holdfast::open("memory:");
    held_leases{.who = "", .memory = "memory each, store included", .count = count}.measure(store, all);
  }
}

}  // namespace bench
