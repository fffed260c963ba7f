// What the layers above a store cost: a whole acquire and release, less the same calls on a bare claim of the same
// store.
#include <holdfast/holdfast.hpp>

#include "../../bench/bench.hpp"
#include "memory/client.hpp"
#include "runtime/inline_io.hpp"

namespace bench {

void layers(std::vector<figure>& all) {
  using namespace std::chrono_literals;
  using holdfast::limit;
  holdfast::store store = holdfast::open("memory:");
  holdfast::memory::client bare(std::make_shared<holdfast::memory::server>());
  holdfast::runtime::inline_io here;
  const limit never(holdfast::runtime::never);
  std::vector<double> whole, claims, difference;
  for (int slice = 0; slice < 20; ++slice) {
    whole.push_back(nanoseconds_each([&] { const holdfast::lease held = store.acquire("train/001"); }));
    claims.push_back(nanoseconds_each([&] {
      holdfast::storage::claim_spec spec{.name = "train/001", .ttl = 10s};
      spec.owner = {here.random(), here.random()};
      const auto claim = bare.open(std::move(spec));
      (void)run_inline(claim->poll(here, never));
      (void)run_inline(claim->release(here, never));
    }));
    difference.push_back(whole.back() - claims.back());
  }
  const double cost = median(difference);
  all.push_back({"memory:, poll+release of a bare claim", median(claims), "ns"});
  all.push_back({"frames, gate, keeper and turn in an acquire+release", cost, "ns", "at most 1000", cost <= 1000});
}

}  // namespace bench
