#include "runtime/back_off.hpp"

#include <algorithm>

#include "seeded_bugs.hpp"

namespace holdfast::runtime {

span back_off(io& i, unsigned tries) {
  using namespace std::chrono_literals;
  if (seeded(bug::no_back_off)) return 0ms;
  const span middle = std::min<span>(5ms * (1u << std::min(tries, 10u)), 250ms);
  return middle / 2 + span(static_cast<span::rep>(i.random() % static_cast<std::uint64_t>(middle.count())));
}

}  // namespace holdfast::runtime
