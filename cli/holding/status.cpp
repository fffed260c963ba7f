#include "holding/status.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "process/descriptor.hpp"

namespace holdfast::cli {

status::status(int fd) noexcept : fd_(fd) {
  if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::string status::line(std::string_view what, std::initializer_list<field> more) {
  using clock = std::chrono::system_clock;
  json_value line;
  line["event"] = what;
  line["time"] = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  for (const field& f : more) line[f.name] = f.value;
  return line.dump(json_value::charset::utf8) + "\n";
}

void status::tell(std::string_view what, std::initializer_list<field> more) const {
  if (fd_ >= 0) write_while_read(fd_, line(what, more));
}

}  // namespace holdfast::cli
