#include "runtime/io.hpp"

#include "runtime/inline_io.hpp"

namespace holdfast::runtime {

void io::run_until(resumption& begin, signal& over) {
  post(begin);
  (void)wait_here(over, limit(never));
}

}  // namespace holdfast::runtime
