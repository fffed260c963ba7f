#include "chaos/process_table.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <stdexcept>

#include "chaos/event_channel.hpp"

namespace holdfast::chaos {

namespace {

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

const char* word_of(role r) { return r == role::library ? "library" : r == role::naive ? "naive" : "program"; }

}  // namespace

process_table::~process_table() {
  for (const auto& [number, m] : all_) {
    ::kill(m.pid, SIGKILL);
    (void)wait_for(m.pid);
  }
}

std::uint32_t process_table::start(role what, const std::string& where, std::uint64_t seed, bool shares) {
  const std::scoped_lock mine(mutex_);
  const std::uint32_t number = ++last_;
  std::string words[] = {HOLDFAST_CHAOS_CLIENT, word_of(what), coordinator_,         std::to_string(number),
                         std::to_string(seed),  where,         shares ? "yes" : "no"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawn(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::runtime_error("cannot start " + words[0]);
  }
  all_.emplace(number, member{pid, what, 0, {}});
  return number;
}

void process_table::stop(std::uint32_t process) {
  const std::scoped_lock mine(mutex_);
  const auto its = all_.find(process);
  if (its == all_.end()) return;
  ++its->second.stops;
  ::kill(its->second.pid, SIGSTOP);
}

void process_table::resume(std::uint32_t process) {
  const std::scoped_lock mine(mutex_);
  const auto its = all_.find(process);
  if (its == all_.end() || --its->second.stops > 0) return;
  ::kill(its->second.pid, SIGCONT);
}

void process_table::kill(std::uint32_t process) {
  const std::scoped_lock mine(mutex_);
  const auto its = all_.find(process);
  if (its == all_.end() || its->second.killed) return;
  its->second.killed = now();
  ::kill(its->second.pid, SIGKILL);
}

process_table::end process_table::wait_for_end(std::uint32_t process) {
  const std::scoped_lock mine(mutex_);
  const auto its = all_.find(process);
  if (its == all_.end()) return {true, now(), 0};
  const member m = its->second;
  all_.erase(its);
  const int code = wait_for(m.pid);
  return {m.killed.has_value(), m.killed.value_or(now()), code};
}

std::vector<std::uint32_t> process_table::alive(role r) const {
  const std::scoped_lock mine(mutex_);
  std::vector<std::uint32_t> found;
  for (const auto& [number, m] : all_) {
    if (m.what == r && !m.killed) found.push_back(number);
  }
  return found;
}

bool process_table::is(std::uint32_t process, role r) const {
  const std::scoped_lock mine(mutex_);
  const auto its = all_.find(process);
  return its != all_.end() && its->second.what == r;
}

bool process_table::any() const {
  const std::scoped_lock mine(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const auto& each) { return !each.second.killed; });
}

}  // namespace holdfast::chaos
