#include "runtime/random.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "runtime/fork.hpp"

namespace holdfast::runtime {

namespace {

// A system call for every owner id would be the dearest part of an uncontended lock; one fills a pool of 64.
struct pool {
  std::array<std::uint64_t, 64> bits{};
  std::size_t left = 0;
  unsigned generation = 0;
};

void fill(pool& p) {
  auto* bytes = reinterpret_cast<char*>(p.bits.data());
  for (std::size_t done = 0; done < sizeof p.bits;) {
    const ssize_t n = ::getrandom(bytes + done, sizeof p.bits - done, 0);
    if (n < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  p.left = p.bits.size();
  p.generation = fork_generation();
}

}  // namespace

std::uint64_t random_bits() {
  thread_local pool mine;
  if (mine.left == 0 || mine.generation != fork_generation()) fill(mine);
  return mine.bits[--mine.left];
}

}  // namespace holdfast::runtime
