#include "completion/completion.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <holdfast/store.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/file.hpp"
#include "exit_code.hpp"
#include "process/io.hpp"
#include "text/json.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

struct candidate {
  std::string word{};
  std::string about{};
};

constexpr std::size_t most_bytes = 1 << 20;

/// Returns whether a shell can complete the name: one word on one line, without escapes.
bool can_be_offered(std::string name) {
  std::erase(name, '\\');  // printable() doubles it, which the shell handles
  return printable(name) == name;
}

/// Starts this program with its output in a pipe and without error messages.
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

/// Returns what it prints within a second.
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

/// Returns the names with this prefix in a store (empty: the default), from `holdfast ls --json`. Completion must be
/// quick: a store that does not answer within a second has no names.
std::vector<candidate> lock_names(const std::string& store, const std::string& prefix) {
  std::vector<std::string> arguments{"holdfast", "ls", "--json"};
  if (!store.empty()) arguments.push_back("--store=" + store);
  arguments.push_back("--prefix=" + prefix);
  std::istringstream lines(output_of(arguments));
  std::vector<candidate> all;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = json_value::parse(line).text("name");
    if (!name.empty() && can_be_offered(name)) all.push_back({name, "a lock"});
  }
  return all;
}

using words_so_far = std::vector<std::string>;

std::vector<candidate> shown_commands(const program_spec& program) {
  std::vector<candidate> all;
  for (const command_spec& c : program.commands) {
    if (!c.group.empty()) all.push_back({c.name, c.description});
  }
  return all;
}

std::vector<candidate> option_names(const option_rows& options) {
  std::vector<candidate> all;
  for (const option_spec& o : options) {
    for (const char* const prefix : {"--", "-"}) {
      for (const std::string& name : o.names_with(prefix)) all.push_back({name, o.help});
    }
  }
  return all;
}

std::vector<candidate> stores() {
  std::vector<candidate> all;
  try {
    for (const named_store& store : config::read().stores()) all.push_back({store.name, shown_url(store.url.value)});
  } catch (const config_error&) {  // reported by the command that uses it
  }
  for (const char* const scheme :
       {"dir:/", "redis://", "rediss://", "redis+unix:///", "redis+sentinel://", "redis+cluster://", "redlock://"})
    all.push_back({scheme, ""});
  return all;
}

/// Returns the value of --store in the words so far, or an empty string.
std::string store_of(const words_so_far& words) {
  const std::string option = "--store";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return "";
}

/// Completes the value of an option.
std::vector<candidate> values(const command_spec& command, const option_spec* o, const words_so_far& words,
                              const std::string& begin) {
  if (o == nullptr) return {};
  if (o->value == "STORE") return stores();
  return o == command.word_option() ? lock_names(store_of(words), begin) : std::vector<candidate>{};
}

/// Completes positional arguments. Names that begin with a dash are offered as the value of the option.
std::vector<candidate> names(const command_spec& command, const words_so_far& words) {
  const option_spec* const o = command.word_option();
  std::vector<candidate> all = values(command, o, words, words.back());
  for (candidate& each : all) {
    if (each.word.starts_with('-')) each.word.insert(0, o->names + "=");
  }
  return all;
}

std::vector<candidate> all_that_fit(const program_spec& program, const words_so_far& words) {
  if (words.size() == 1) {
    return words.front().starts_with('-') ? option_names(program.options) : shown_commands(program);
  }
  const command_spec* const command = program.find(words.front());
  // After "--" comes the user's command, which the shell completes.
  if (command == nullptr || std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
  const std::string& last = words.back();
  if (const option_spec* const o = command->option_with_value(words[words.size() - 2])) {
    return values(*command, o, words, last);
  }
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const option_spec* const o = command->option_with_value(last.substr(0, equals));
    std::vector<candidate> all = values(*command, o, words, last.substr(equals + 1));
    for (candidate& each : all) each.word.insert(0, last, 0, equals + 1);
    return all;
  }
  if (last.starts_with('-')) return option_names(command->options);
  return names(*command, words);
}

/// Returns how the last word can be completed. The words begin after "holdfast".
std::vector<candidate> candidates(const program_spec& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::vector<candidate> all = all_that_fit(program, words);
  std::erase_if(all, [&](const candidate& each) { return !each.word.starts_with(words.back()); });
  return all;
}

}  // namespace

command_spec describe_completion(const program_spec& program, const user_command& after_dashes) {
  return {.name = "complete",
          .description = "For shells: complete the last word",
          .runs_command = true,
          .act = [&program, &after_dashes] {
            for (const candidate& each : candidates(program, after_dashes)) {
              std::printf("%s\t%s\n", each.word.c_str(), each.about.c_str());
            }
            return static_cast<int>(fine);
          }};
}

}  // namespace holdfast::cli
