// holdfast_sim: runs seeds by hand, with or without a planted bug.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "sim/bugs.hpp"
#include "sim/run.hpp"

namespace {

struct named_store {
  std::string_view name;
  holdfast::sim::store_kind is;
};
constexpr named_store stores[] = {{"lease", holdfast::sim::store_kind::lease},
                                  {"redis", holdfast::sim::store_kind::redis},
                                  {"replicas", holdfast::sim::store_kind::replicas},
                                  {"redlock", holdfast::sim::store_kind::redlock},
                                  {"numbers", holdfast::sim::store_kind::numbers}};

int usage() {
  std::fputs(
      "usage: holdfast_sim --seed N [--count N] [--store lease|redis|replicas|redlock|numbers] [--bug NAME] "
      "[--trace]\n  bugs:",
      stderr);
  for (const auto& b : holdfast::sim::bugs) std::fprintf(stderr, " %s", b.name.data());
  std::fputs("\n", stderr);
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned long long seed = 1, count = 1;
  bool trace = false;
  auto store = holdfast::sim::store_kind::lease;
  for (int n = 1; n < argc; ++n) {
    const std::string_view word = argv[n];
    if (word == "--trace") {
      trace = true;
    } else if (word == "--seed" && n + 1 < argc) {
      seed = std::strtoull(argv[++n], nullptr, 10);
    } else if (word == "--count" && n + 1 < argc) {
      count = std::strtoull(argv[++n], nullptr, 10);
    } else if (word == "--store" && n + 1 < argc) {
      const std::string_view which = argv[++n];
      const auto* const known =
          std::find_if(std::begin(stores), std::end(stores), [&](const auto& each) { return each.name == which; });
      if (known == std::end(stores)) return usage();
      store = known->is;
    } else if (word == "--bug" && n + 1 < argc) {
      const auto wanted = holdfast::sim::bug_called(argv[++n]);
      if (!wanted) return usage();
      holdfast::planted_bug = *wanted;
    } else {
      return usage();
    }
  }
  int bad = 0;
  for (unsigned long long end = seed + count; seed < end; ++seed) {
    const holdfast::sim::result r = holdfast::sim::run(seed, store, trace);
    if (!r.violation.empty()) {
      std::printf("seed %llu: %s\n", seed, r.violation.c_str());
      bad = 1;
    } else if (count == 1) {
      std::printf(
          "seed %llu: every invariant held; %llu events, %llu operations, %llu leases, %llu faults, hash %016llx\n",
          seed, static_cast<unsigned long long>(r.events), static_cast<unsigned long long>(r.operations),
          static_cast<unsigned long long>(r.granted), static_cast<unsigned long long>(r.faults),
          static_cast<unsigned long long>(r.hash));
    }
  }
  return bad;
}
