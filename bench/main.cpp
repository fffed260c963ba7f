// holdfast_bench [--json] [part...] prints the figures that docs/performance.md quotes. Ratios compare alternating
// slices of one run.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "bench.hpp"

namespace {

void print_table(const std::vector<bench::figure>& all) {
  std::printf("%-62s %12s %-14s %s\n", "what", "measured", "", "bar");
  for (const bench::figure& f : all) {
    std::printf("%-62s %12.2f %-14s %s%s\n", f.what.c_str(), f.value, f.unit.c_str(), f.bar.c_str(),
                f.reached ? "" : "  MISSED");
  }
}

void print_json(const std::vector<bench::figure>& all) {
  const char* separator = "[\n";
  for (const bench::figure& f : all) {
    std::printf("%s  {\"what\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"bar\": \"%s\", \"reached\": %s}",
                separator, f.what.c_str(), f.value, f.unit.c_str(), f.bar.c_str(), f.reached ? "true" : "false");
    separator = ",\n";
  }
  std::puts("\n]");
}

}  // namespace

int main(int argc, char** argv) {
  struct part {
    std::string_view name;
    void (*measure)(std::vector<bench::figure>&);
  };
  constexpr part parts[] = {
      {"uncontended", bench::uncontended},
      {"layers", bench::layers},
      {"hand_over", bench::hand_over},
      {"directory", bench::directory},
      {"redis", bench::redis},
      {"redis_coroutines", bench::redis_coroutines},
      {"redis_hand_off", bench::redis_hand_off},
      {"redis_leases", bench::redis_leases},
      {"redis_cluster_leases", bench::redis_cluster_leases},
      {"redis_failover", bench::redis_failover},
      {"redis_shares", bench::redis_shares},
      {"redis_unfair", bench::redis_unfair},
      {"redlock", bench::redlock},
      {"many_leases", bench::many_leases},
  };
  std::vector<std::string_view> wanted(argv + 1, argv + argc);
  const bool json = std::erase(wanted, "--json") != 0;
  for (const std::string_view w : wanted) {
    if (std::none_of(std::begin(parts), std::end(parts), [&](const part& p) { return p.name == w; })) {
      std::fputs("usage: holdfast_bench [--json] [part]...\n", stderr);
      for (const part& p : parts) std::fprintf(stderr, "  %s\n", p.name.data());
      return 64;
    }
  }
  std::vector<bench::figure> all;
  for (const part& p : parts) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), p.name) != wanted.end()) p.measure(all);
  }
  json ? print_json(all) : print_table(all);
}
