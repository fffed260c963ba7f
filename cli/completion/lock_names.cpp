#include "completion/lock_names.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>

#include "process/descriptor.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t most_bytes = 1 << 20;

/// Those that a shell can offer: one word in a line, as it is.
bool can_be_offered(std::string name) {
  std::erase(name, '\\');  // which it quotes
  return printable(name) == name;
}

/// This very program, with its output in a pipe and nothing to say about what went wrong.
pid_t start_ls(std::vector<std::string> arguments, const descriptor& output) {
  std::vector<char*> words;
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&streams, output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int why = ::posix_spawn(&pid, "/proc/self/exe", &streams, nullptr, words.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&streams);
  return why == 0 ? pid : -1;
}

/// What it says within a second.
std::string output_of(const std::vector<std::string>& arguments) {
  pipe_ends ends = make_pipe();
  const pid_t pid = start_ls(arguments, ends.write);
  if (pid < 0) return "";
  ends.write.reset();
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::seconds(1);
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    pollfd readable{ends.read.get(), POLLIN, 0};
    if (left <= 0 || text.size() > most_bytes || ::poll(&readable, 1, static_cast<int>(left)) <= 0) break;
    char part[4096];
    const ssize_t n = ::read(ends.read.get(), part, sizeof part);
    if (n <= 0) break;
    text.append(part, static_cast<std::size_t>(n));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return text;
}

}  // namespace

std::vector<candidate> lock_names(const std::string& store, const std::string& prefix) {
  std::vector<std::string> arguments{"holdfast", "ls", "--json"};
  if (!store.empty()) arguments.push_back("--store=" + store);
  if (!prefix.empty()) arguments.push_back(prefix);
  std::istringstream lines(output_of(arguments));
  std::vector<candidate> all;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = json_value::parse(line).text("name");
    if (!name.empty() && can_be_offered(name)) all.push_back({name, "a lock"});
  }
  return all;
}

}  // namespace holdfast::cli
