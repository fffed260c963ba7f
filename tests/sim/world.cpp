#include "sim/world.hpp"

#include <algorithm>
#include <cstdio>

namespace holdfast::sim {

void world::at(real when, std::function<void()> what) {
  future_.emplace(std::pair(std::max(when, now_), sequence_++), std::move(what));
}

bool world::step() {
  if (future_.empty()) return false;
  auto first = future_.extract(future_.begin());
  now_ = first.key().first;
  ++events_;
  note("at", static_cast<std::uint64_t>(now_.count()));
  first.mapped()();
  after_each();
  return true;
}

real world::between(real low, real high) {
  return low + real(static_cast<real::rep>(below(static_cast<std::uint64_t>((high - low).count()) + 1)));
}

void world::note(const char* what, std::uint64_t a, std::uint64_t b) {
  for (const std::uint64_t part : {static_cast<std::uint64_t>(what[0]), a, b}) {
    hash_ = (hash_ ^ part) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
  if (trace && what[0] != 'a') {
    std::printf("%10.3f ms  %-22s %llu %llu\n", static_cast<double>(now_.count()) / 1e6, what,
                static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  }
}

void world::tell(const std::string& what) const {
  if (trace) std::printf("%10.3f ms  %s\n", static_cast<double>(now_.count()) / 1e6, what.c_str());
}

void world::violate(const std::string& what) {
  if (!violation_.empty()) return;
  char when[32];
  std::snprintf(when, sizeof when, " (at %.3f ms)", static_cast<double>(now_.count()) / 1e6);
  violation_ = what + when;
  if (trace) std::printf("VIOLATION: %s\n", violation_.c_str());
}

}  // namespace holdfast::sim
