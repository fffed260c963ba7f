#include "process/subshell.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace holdfast::cli {

namespace {

/// What a fork has in common with its parent, until it becomes another program.
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
    const std::size_t name_ends = text.rfind(')');  // the name may have blanks and brackets of its own
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
