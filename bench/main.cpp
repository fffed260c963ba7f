// holdfast_bench [--json]: what docs/performance.md quotes. Ratios are of slices in turn, in the same run.
#include <cstdio>
#include <cstring>
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
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) {
    std::fputs("usage: holdfast_bench [--json]\n", stderr);
    return 64;
  }
  std::vector<bench::figure> all;
  bench::uncontended(all);
  bench::layers(all);
  bench::hand_over(all);
  bench::many_leases(all);
  json ? print_json(all) : print_table(all);
}
