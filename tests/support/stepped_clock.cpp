#include "support/stepped_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace holdfast::test {

void stepped_clock::set_ahead(std::chrono::milliseconds by) const {
  const std::int64_t ms = by.count();
  const int fd = ::open(offset_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::pwrite(fd, &ms, sizeof ms, 0) == static_cast<ssize_t>(sizeof ms);
  if (fd >= 0) ::close(fd);
  if (!written) throw std::runtime_error("cannot set the clock of a server");
}

std::vector<std::string> stepped_clock::environment() const {
  // The loader would only warn, and the server would use the real clock.
  if (::access(HOLDFAST_STEPPED_CLOCK, R_OK) != 0) throw std::runtime_error("not there: " HOLDFAST_STEPPED_CLOCK);
  return {std::string("LD_PRELOAD=") + HOLDFAST_STEPPED_CLOCK, "HOLDFAST_CLOCK_OFFSET=" + offset_};
}

}  // namespace holdfast::test
