#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/locks.hpp"

namespace holdfast::chaos {

namespace {

using kind = event::kind;

constexpr std::int64_t ttl_in_ms = 1000;

pid_t start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawn(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::runtime_error("cannot start " + words[0]);
  }
  return pid;
}

}  // namespace

void run_program_client(const assignment& a, event_channel& coordinator) {
  std::mt19937_64 choose(a.seed);
  event me;
  me.party = a.process * threads;
  me.lock = shop;
  const auto say = [&](kind what, std::int64_t run, std::int64_t code) {
    event e = me;
    e.what = what;
    e.at = now();
    e.value = run;
    e.deadline = code;
    return e;
  };
  for (std::int64_t n = 0; coordinator.ask(say(kind::next, 0, 0)).yes; ++n) {
    const std::int64_t run = a.process * std::int64_t{1'000'000} + n;
    coordinator.tell(say(kind::runs, run, ttl_in_ms));
    const pid_t pid =
        start({HOLDFAST_PROGRAM, "run", "--quiet", "--store", a.where, "--ttl", std::to_string(ttl_in_ms) + "ms", "-w",
               "3s", locks[shop].name, "--", HOLDFAST_CHAOS_CLIENT, "command", a.coordinator, std::to_string(a.process),
               std::to_string(run)});
    if (choose() % 8 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(choose() % 200));
      ::kill(pid, SIGKILL);
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    coordinator.tell(say(kind::ran, run, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)));
  }
}

int run_command(std::uint32_t process, std::int64_t run, event_channel& coordinator) {
  const char* fence = std::getenv("HOLDFAST_FENCE");
  if (fence == nullptr) throw std::runtime_error("no fence");
  std::mt19937_64 choose(static_cast<std::uint64_t>(run));
  event me;
  me.party = process * threads;
  me.lock = shop;
  me.fence = std::stoull(fence);
  me.value = run;
  me.what = kind::began;
  me.at = now();
  coordinator.tell(me);
  for (std::uint64_t n = choose() % 4; n > 0; --n) {
    if (!add_fenced(coordinator, me, me.fence, choose() % 20'000)) break;
  }
  const auto code = static_cast<int>(choose() % 4);
  me.what = kind::ended;
  me.at = now();
  me.deadline = code;
  coordinator.tell(me);
  return code;
}

}  // namespace holdfast::chaos
