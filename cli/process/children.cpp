#include "process/children.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace holdfast::cli {

std::vector<pid_t> children_of_this_process() {
  const std::string me = std::to_string(::getpid());
  const std::string at = "/proc/" + me + "/task/" + me + "/children";
  errno = 0;
  std::ifstream children(at);
  std::vector<pid_t> all;
  for (pid_t each = 0; children >> each;) all.push_back(each);
  if (!children.is_open() || children.bad()) {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            at + " tells what a command has left behind, and cannot be read; is /proc mounted?");
  }
  return all;
}

}  // namespace holdfast::cli
