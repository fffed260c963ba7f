// A process of a chaos run.
// usage: chaos_client library|naive|program COORDINATOR PROCESS SEED WHERE SHARES, or: chaos_client command COORDINATOR
// PROCESS RUN
#include "chaos/client.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>
#include <thread>

namespace holdfast::chaos {

namespace {

void pause(std::uint64_t us) {
  if (us != 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

reply ask_at(event_channel& l, event who, event::kind what, std::uint64_t fence, std::int64_t value = 0) {
  who.what = what;
  who.at = now();
  who.fence = fence;
  who.value = value;
  return l.ask(who);
}

int start(int argc, char** argv) {
  const std::string_view role = argv[1];
  event_channel coordinator(argv[2]);
  const auto process = static_cast<std::uint32_t>(std::stoul(argv[3]));
  if (role == "command") return run_command(process, std::stoll(argv[4]), coordinator);
  if (argc != 7) return 64;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // otherwise a stopped process would remain
  const assignment a{argv[2], process, std::stoull(argv[4]), argv[5], std::string_view(argv[6]) == "yes"};
  if (role == "library") {
    run_library_client(a, coordinator);
  } else if (role == "naive") {
    run_naive_client(a, coordinator);
  } else {
    run_program_client(a, coordinator);
  }
  return 0;
}

}  // namespace

bool add_fenced(event_channel& l, event who, std::uint64_t fence, std::uint64_t pause_in_us) {
  const reply seen = ask_at(l, who, event::kind::reads, fence);
  if (!seen.yes) return false;
  pause(pause_in_us);
  return ask_at(l, who, event::kind::writes, fence, seen.value + 1).yes;
}

void add_unfenced(event_channel& l, event who, std::uint64_t pause_in_us) {
  const reply seen = ask_at(l, who, event::kind::peeks, 0);
  pause(pause_in_us);
  (void)ask_at(l, who, event::kind::pokes, 0, seen.value + 1);
}

}  // namespace holdfast::chaos

int main(int argc, char** argv) {
  if (argc < 5) return 64;
  try {
    return holdfast::chaos::start(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chaos_client: %s\n", e.what());
    return 1;
  }
}
