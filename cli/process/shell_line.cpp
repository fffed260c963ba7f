#include "process/shell_line.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <system_error>
#include <vector>

namespace holdfast::cli {

pid_t start_line(const std::string& line, const environment& more, const sigset_t& mask) {
  std::vector<std::string> variables = ours_with(more);
  std::vector<char*> found;
  for (std::string& each : variables) found.push_back(each.data());
  found.push_back(nullptr);
  std::string words[] = {"sh", "-c", line};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};

  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&how, 0);
  ::posix_spawnattr_setsigmask(&how, &mask);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t pid = -1;
  const int why = ::posix_spawn(&pid, "/bin/sh", &files, &how, arguments, found.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  if (why != 0) throw std::system_error(why, std::generic_category(), "/bin/sh");
  return pid;
}

}  // namespace holdfast::cli
