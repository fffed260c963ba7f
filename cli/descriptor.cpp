#include "descriptor.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

}  // namespace holdfast::cli
