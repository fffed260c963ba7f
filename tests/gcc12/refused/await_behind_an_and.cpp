// g++ 12 says: internal compiler error
#include "gcc12/coroutine.hpp"

namespace gcc12 {

task<int> await_behind_an_and() {
  if (probe(1).value() == 1 && co_await take_probe(probe(1)) != 1) co_return 0;
  co_return 1;
}

}  // namespace gcc12
