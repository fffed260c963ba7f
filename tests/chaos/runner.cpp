// usage: chaos_runner run TOPOLOGY [--time 10m] [--seed N] [--history FILE] [--slack 5s]
//        chaos_runner check FILE [--slack 5s]
//        chaos_runner list
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/run.hpp"
#include "chaos/topology.hpp"

namespace {

using namespace holdfast::chaos;

std::chrono::milliseconds duration(const std::string& text) {
  std::size_t end = 0;
  const long long number = std::stoll(text, &end);
  const std::string unit = text.substr(end);
  const long long ms = unit == "ms"                  ? 1
                       : unit == "s" || unit.empty() ? 1000
                       : unit == "m"                 ? 60'000
                       : unit == "h"                 ? 3'600'000
                                                     : 0;
  if (ms == 0 || number <= 0) throw std::invalid_argument("not a duration: " + text);
  return std::chrono::milliseconds(number * ms);
}

int start(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"list"}) {
    for (const std::string& name : topologies()) std::cout << name << '\n';
    return 0;
  }
  if (words.size() < 2 || words.size() % 2 != 0 || (words[0] != "run" && words[0] != "check")) return 64;
  plan p;
  p.topology = words[1];
  for (std::size_t n = 2; n < words.size(); n += 2) {
    const std::string &option = words[n], &value = words[n + 1];
    if (option == "--time") {
      p.time = std::chrono::ceil<std::chrono::seconds>(duration(value));
    } else if (option == "--seed") {
      p.seed = std::stoull(value);
    } else if (option == "--history") {
      p.file = value;
    } else if (option == "--slack") {
      p.slack = duration(value);
    } else {
      return 64;
    }
  }
  return (words[0] == "run" ? run(p) : check(words[1], p.slack)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = start({argv + 1, argv + argc});
    if (code == 64) std::fputs("usage: chaos_runner run TOPOLOGY [OPTION VALUE]... | check FILE | list\n", stderr);
    return code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chaos_runner: %s\n", e.what());
    return 70;
  }
}
