#include "runtime/descriptor.hpp"

#include <system_error>

namespace holdfast::runtime {

void throw_errno(const char* call) {
  const int error = errno;
  const char* what = call;
  if (error == EMFILE) what = "no file descriptor left (EMFILE); raise ulimit -n, or share one store in the process";
  if (error == ENFILE) what = "no file descriptor left on this machine (ENFILE); raise fs.file-max";
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace holdfast::runtime
