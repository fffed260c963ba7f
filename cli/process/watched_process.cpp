#include "process/watched_process.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace holdfast::cli {

// System calls by number: Debian 12's <sys/pidfd.h> has no C++ declarations.

watched_process::watched_process(pid_t pid) : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
  const int why = fd_.get() < 0 ? errno : over() ? ESRCH : 0;  // over(): it is a zombie
  if (why != 0) throw std::system_error(why, std::generic_category(), "process " + std::to_string(pid));
}

bool watched_process::over() noexcept {
  pollfd it{fd_.get(), POLLIN, 0};
  return ::poll(&it, 1, 0) > 0;
}

int watched_process::signal(int number) const noexcept {
  return ::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) == 0 ? 0 : errno;
}

namespace {

/// What a forked process has in common with its parent until it calls exec.
struct looks {
  std::string program, arguments;
  pid_t parent = 0, group = 0;

  explicit looks(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::error_code unreadable;
    program = std::filesystem::read_symlink(folder + "/exe", unreadable);
    std::ifstream line(folder + "/cmdline", std::ios::binary);
    arguments.assign(std::istreambuf_iterator<char>(line), {});
    std::ifstream stat(folder + "/stat");
    std::string text(std::istreambuf_iterator<char>(stat), {});
    const std::size_t name_ends = text.rfind(')');  // the name may contain spaces and parentheses
    if (name_ends == std::string::npos) return;
    char state = 0;
    std::istringstream(text.substr(name_ends + 1)) >> state >> parent >> group;
  }
};

}  // namespace

bool is_subshell(pid_t pid) {
  const looks it(pid);
  if (it.parent <= 0 || it.program.empty()) return false;
  const looks parent(it.parent);
  return it.program == parent.program && it.arguments == parent.arguments && it.group == parent.group;
}

}  // namespace holdfast::cli
