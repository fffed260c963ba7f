// g++ 12 says: array used as initializer
#include <vector>

#include "gcc12/coroutine.hpp"

namespace gcc12 {

task<int> awaits_in_braces() {
  const std::vector<int> both{co_await take_int(1), co_await take_int(2)};
  co_return static_cast<int>(both.size());
}

}  // namespace gcc12
