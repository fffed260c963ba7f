// holdfast_sim: runs seeds by hand, with or without a seeded bug, and finds the seeds that find one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>

#include "sim/bugs.hpp"
#include "sim/run.hpp"
#include "sim/seeded_search.hpp"

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
      "[--trace]\n       holdfast_sim --bugs                          the names of all seeded bugs\n"
      "       holdfast_sim --find NAME | --find-first NAME  the seed that finds it: the recorded one, or the first\n  "
      "bugs:",
      stderr);
  for (const auto& b : holdfast::sim::bugs) std::fprintf(stderr, " %s", b.name.data());
  std::fputs("\n", stderr);
  return 64;
}

int list_bugs() {
  for (const auto& b : holdfast::sim::bugs) std::printf("%s\n", b.name.data());
  return 0;
}

/// Prints a line of seeds.txt. The recorded seed stays as long as it finds the bug, unless the first one is asked for.
int find_seed(std::string_view name, bool first) {
  using namespace holdfast::sim;
  const auto* const b =
      std::find_if(std::begin(bugs), std::end(bugs), [&](const auto& each) { return each.name == name; });
  if (b == std::end(bugs)) return usage();
  const recorded_seeds recorded = read_recorded_seeds();
  const auto record = recorded.find(name);
  std::optional<std::uint64_t> seed;
  if (!first && record != recorded.end() && finds(record->second, *b)) seed = record->second;
  if (!seed) seed = search(*b).seed;
  if (!seed) {
    std::fprintf(stderr, "%s: not found in %llu seeds\n", b->name.data(),
                 static_cast<unsigned long long>(enough_seeds));
    return 1;
  }
  std::printf("%s %llu\n", b->name.data(), static_cast<unsigned long long>(*seed));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("--bugs")) return list_bugs();
  if (argc == 3 && argv[1] == std::string_view("--find")) return find_seed(argv[2], false);
  if (argc == 3 && argv[1] == std::string_view("--find-first")) return find_seed(argv[2], true);
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
      holdfast::seeded_bug = *wanted;
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
