#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <map>

#include "duration.hpp"
#include "exit_code.hpp"
#include "run.hpp"

namespace holdfast::cli {

namespace {

std::chrono::milliseconds duration_of(const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed) throw CLI::ValidationError("'" + text + "' is no duration; say 250ms, 10s, 5m, 2h or 1d");
  return *parsed;
}

/// "TERM", "SIGTERM", "term".
int signal_of(std::string text) {
  static const std::map<std::string, int> known{
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"ABRT", SIGABRT},
  };
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (text == "IGNORE") return 0;
  if (text.rfind("SIG", 0) == 0) text.erase(0, 3);
  if (const auto at = known.find(text); at != known.end()) return at->second;
  throw CLI::ValidationError("'" + text + "' is neither ignore nor a signal; say term, kill, INT, HUP ...");
}

/// One that is not open now would soon be a file of our own, and what is told would go there.
std::string open_descriptor(const std::string& text) {
  int fd = -1;
  const bool number = CLI::detail::lexical_cast(text, fd);
  return number && fd >= 0 && ::fcntl(fd, F_GETFD) >= 0 ? "" : "'" + text + "' is no open file descriptor";
}

}  // namespace

std::string shared_store(const std::string& url) {
  if (url.empty()) return "the URL of the store is empty";
  return url.rfind("memory:", 0) == 0 ? "memory: is inside one process; give a store that processes share, dir:/PATH"
                                      : "";
}

namespace {

/// The command stands behind "--", where the parser does not look.
class with_command final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: holdfast run [options] NAME -- CMD [ARG...]\n";
  }
};

}  // namespace

void describe_run(CLI::App& program, run_options& o) {
  CLI::App& run = *program.add_subcommand("run", "Hold a lock while a command runs");
  run.formatter(std::make_shared<with_command>());
  run.add_option("NAME", o.name, "the lock")->required();
  run.add_option("--store", o.store, "the store; else $HOLDFAST_STORE, else a directory of this user")
      ->envname("HOLDFAST_STORE")
      ->check(shared_store)
      ->option_text("URL");
  CLI::Option* const nonblock = run.add_flag_callback(
      "-n,--nonblock", [&o] { o.wait = std::chrono::milliseconds(0); }, "do not wait for another holder");
  run.add_option_function<std::string>(
         "-w,--timeout", [&o](const std::string& t) { o.wait = duration_of(t); }, "wait for so long at most")
      ->excludes(nonblock)
      ->option_text("D");
  CLI::Option* const code =
      run.add_option("-E,--conflict-exit-code", o.busy_code, "the exit code when the lock is not to be had [75]")
          ->check(CLI::Range(0, 255))
          ->option_text("N");
  run.add_flag_callback(
         "--skip", [&o] { o.skip = true; }, "not to be had: that is fine; say nothing and exit 0 (for cron)")
      ->excludes(code);
  run.add_option_function<std::string>(
         "--ttl", [&o](const std::string& t) { o.ttl = duration_of(t); }, "how long the store keeps us unrenewed [10s]")
      ->option_text("D");
  run.add_option_function<std::string>(
         "--max-hold", [&o](const std::string& t) { o.max_hold = duration_of(t); },
         "stop the command before it has held the lock for so long")
      ->option_text("D");
  run.add_option_function<std::string>(
         "--on-lost", [&o](const std::string& t) { o.on_lost = signal_of(t); },
         "term, kill, a signal's name, or ignore: what the command gets when the lock is "
         "lost, or is about to be [term]")
      ->option_text("WHAT");
  run.add_option_function<std::string>(
         "--grace", [&o](const std::string& t) { o.grace = duration_of(t); },
         "from that signal to SIGKILL, half of the ttl at most [a quarter of it, 5s at most]")
      ->option_text("D");
  run.add_option("--label", o.label, "what others are told who holds the lock [host, process id and program]")
      ->option_text("TEXT");
  run.add_option("--status-fd", o.status_fd, "write what happens there, one JSON object a line")
      ->check(open_descriptor)
      ->option_text("N");
  CLI::Option* const quiet = run.add_flag("-q,--quiet", o.quiet, "say nothing, not even what went wrong");
  run.add_flag("-v,--verbose", o.verbose, "say who holds the lock, and what happens")->excludes(quiet);
  run.footer(
      "Exit codes: the command's own; 64 usage, 69 store unreachable, 75 busy, 77 not allowed, 78 configuration,\n"
      "79 lost and stopped, 80 ended but not certain, 126 not executable, 127 not found, 128+n by signal n.\n"
      "The command finds HOLDFAST_NAME, HOLDFAST_FENCE, HOLDFAST_OWNER and HOLDFAST_STORE in its environment.");
}

}  // namespace holdfast::cli
