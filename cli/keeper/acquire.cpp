#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "exit_code.hpp"
#include "keeper/keeper.hpp"
#include "options/values.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/watched_process.hpp"
#include "run/run.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

/// Closes everything inherited from the caller except these two. stderr stays open until the lock is acquired, for
/// errors.
void close_descriptors_except(int one, int other) {
  const auto [low, high] = std::minmax({static_cast<unsigned>(one), static_cast<unsigned>(other)});
  if (low > 3) ::close_range(3, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
  redirect_to_null(STDIN_FILENO);
  redirect_to_null(STDOUT_FILENO);
}

/// Runs in the forked child, with signals still blocked.
[[noreturn]] void become_keeper(const acquire_options& o, watched_process& target, int caller, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_NAME, "holdfast-keeper");
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    std::signal(number, SIG_DFL);  // even if the caller ignores them
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(by_signal + SIGTERM);  // the parent exited before prctl() took effect
  int code = internal;
  try {
    close_descriptors_except(caller, target.fd());
    code = run_keeper(o, target, caller);
  } catch (const std::exception& e) {
    if (!o.hold.quiet) std::fprintf(stderr, "holdfast: %s\n", e.what());
  }
  ::_exit(code);
}

/// The foreground process: reads the keeper's events and prints the result.
class caller {
 public:
  caller(const acquire_options& o, caught_signals& signals, pid_t keeper, descriptor from)
      : options_(o), signals_(signals), keeper_(keeper), from_(std::move(from)) {}

  int go() {
    for (;;) {
      pollfd both[] = {{signals_.fd(), POLLIN, 0}, {from_.get(), POLLIN, 0}};
      ::poll(both, 2, -1);
      if (signals_.asked_to_stop() != 0) ::kill(keeper_, SIGTERM);  // its pid is not reused before we wait for it
      if (both[1].revents == 0) continue;
      char part[4096];
      const ssize_t n = ::recv(from_.get(), part, sizeof part, 0);
      if (n <= 0) return keeper_exit_code();
      text_.append(part, static_cast<std::size_t>(n));
      for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
        if (!handle_event(text_.substr(0, end + 1))) continue;
        if (signals_.asked_to_stop() == 0) return print_held();
        ::kill(keeper_, SIGTERM);  // the keeper waits for our answer, and we wait for its exit
      }
    }
  }

 private:
  /// Returns true for the event "acquired".
  bool handle_event(const std::string& line) {
    if (options_.hold.status_fd >= 0) write_with_timeout(options_.hold.status_fd, line);
    acquired_ = json_value::parse(line);
    return acquired_.text("event") == "acquired";
  }

  int print_held() {
    const auto fence = static_cast<unsigned long long>(acquired_.number("fence"));
    // A URL with a password is not exported; --store, HOLDFAST_STORE or the configuration lead later commands to the
    // same store.
    const std::optional<std::string> store = options_.hold.store.url_for_others();
    if (options_.hold.verbose) {
      print_message("acquired " + options_.hold.what() + ", fence " + std::to_string(fence));
    }
    if (options_.json) {
      acquired_["name"] = options_.hold.names.front();  // the name that release takes
      acquired_["keeper"] = keeper_;
      if (store) acquired_["store"] = *store;
      std::puts(acquired_.dump(json_value::charset::utf8).c_str());
    } else {
      std::printf("export HOLDFAST_NAME=%s\nexport HOLDFAST_FENCE=%llu\nexport HOLDFAST_OWNER=%s\n",
                  shell_word(options_.hold.names.front()).c_str(), fence, acquired_.text("owner").c_str());
      if (store) std::printf("export HOLDFAST_STORE=%s\n", shell_word(*store).c_str());
    }
    const char yes = '!';
    const bool said = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (said && ::send(from_.get(), &yes, 1, MSG_NOSIGNAL) == 1) return fine;
    const int why = errno;
    from_.reset();  // makes the keeper release the lock
    (void)keeper_exit_code();
    throw std::system_error(why, std::generic_category(), "the result cannot be printed, and the lock was released");
  }

  /// Returns the keeper's exit code after it has ended. Never 0, since the script would go on without the lock.
  int keeper_exit_code() {
    int status = 0;
    while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
    if (const int by = signals_.asked_to_stop(); by != 0) return by_signal + by;
    if (WIFEXITED(status)) return WEXITSTATUS(status) == fine ? int{busy} : WEXITSTATUS(status);
    if (!options_.hold.quiet) std::fputs("holdfast: the keeper was killed before it acquired the lock\n", stderr);
    return internal;
  }

  const acquire_options& options_;
  caught_signals& signals_;
  const pid_t keeper_;
  descriptor from_;
  std::string text_;
  json_value acquired_;
};

int usage_error(const std::string& why) {
  std::fprintf(stderr, "holdfast: %s; see holdfast acquire --help\n", why.c_str());
  return usage;
}

/// Returns why the lock cannot be held for our parent; empty if it can.
std::string wrong_parent(pid_t parent) {
  if (parent <= 1)
    return "the process that started us is gone or not visible; name the process to hold it for: --hold-for PID";
  if (is_subshell(parent)) {
    return "we were started by a subshell, which may end before the script does; name the process to hold it for: "
           "--hold-for $$ for the script, --hold-for $BASHPID for the subshell";
  }
  return "";
}

}  // namespace

int acquire(const acquire_options& o) {
  const pid_t pid = o.hold_for.value_or(::getppid());
  if (const std::string wrong = o.hold_for ? "" : wrong_parent(pid); !wrong.empty()) return usage_error(wrong);
  std::optional<watched_process> target;
  try {
    target.emplace(pid);
  } catch (const std::system_error& e) {
    return usage_error("--hold-for: " + std::string(e.what()));
  }
  if (o.on_lost != 0 && target->signal(0) != 0)
    return usage_error("--on-lost: not allowed to signal process " + std::to_string(pid));
  caught_signals signals;  // before the fork, so that no signal is missed
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  descriptor ours(ends[0]), its(ends[1]);
  const pid_t us = ::getpid();
  const pid_t keeper = ::fork();
  if (keeper < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (keeper == 0) become_keeper(o, *target, its.get(), us);
  its.reset();
  return caller(o, signals, keeper, std::move(ours)).go();
}

namespace {

value_reader signal_reader(int& into) {
  return [&into](const std::string& text) -> std::string {
    const auto read = on_lost::of(text);
    if (!read || !read->line.empty()) {
      return "'" + text + "' is neither ignore nor a signal; use term, kill, INT, HUP ...";
    }
    into = read->signal;
    return "";
  };
}

}  // namespace

command_spec describe_acquire(const user_command&) {
  const auto wanted = std::make_shared<acquire_options>();
  acquire_options& o = *wanted;
  return {
      .name = "acquire",
      .group = "hold",
      .description = "Acquire a lock and leave a process that holds it for a script",
      .examples = {{"holdfast acquire db > held && . ./held", "from here on the script holds it"},
                   {"holdfast acquire --hold-for $$ -w 5s db", "for this shell"}},
      .options = joined(
          {o.hold.rows(),
           {{.names = "--hold-for",
             .value = "PID",
             .help = "hold it until this process ends [our parent]",
             .into = &o.hold_for,
             .positive = true},
            {.names = "--max-hold", .value = "D", .help = "hold it for at most this long", .into = &o.hold.max_hold},
            {.names = "--on-lost",
             .value = "WHAT",
             .help = "the signal for PID when the lock is lost: term, kill, a signal name [ignore: none]",
             .into = signal_reader(o.on_lost)},
            {.names = "--json", .help = "print the result as JSON, not as shell variables", .into = &o.json}}}),
      .footer =
          "Exit codes: 0 held; 64 usage, 69 store unreachable, 70 the result cannot be printed, 75 busy, 77 not "
          "allowed, 78 configuration, 79 lost at once, 80 released, but not confirmed, 128+n by signal n.",
      .after_parse = [&o] { o.hold.resolve_ttl(); },
      .act = [wanted] { return run_action([&] { return acquire(*wanted); }, wanted->hold.quiet); }};
}

command_spec describe_release(const user_command&) {
  const auto wanted = std::make_shared<release_options>();
  release_options& o = *wanted;
  return {
      .name = "release",
      .group = "hold",
      .description = "Release what holdfast acquire has acquired",
      .examples = {{"holdfast release db --owner $HOLDFAST_OWNER", "by the owner that acquire printed"},
                   {"holdfast release db --fence 42", "by the fence"}},
      .options = joined(
          {o.name.name_rows("the lock; if acquired with others, the first name"),
           {o.store.row(),
            {.names = "--owner",
             .value = "ID",
             .help = "the owner id: HOLDFAST_OWNER",
             .into = &o.owner,
             .excludes = {"--fence"}},
            {.names = "--fence", .value = "N", .help = "or the fence: HOLDFAST_FENCE", .into = fence_reader(o.fence)},
            {.names = "-q,--quiet", .help = "print nothing, not even errors", .into = &o.quiet}}}),
      .footer =
          "Exit codes: 0 released, 75 held by another client, 77 held, but not by a keeper of this machine, 79 no "
          "longer held: lost, or released before, 80 not confirmed; 64 usage, 69 store unreachable, 78 "
          "configuration.",
      .act = [wanted] {
        if (!wanted->owner.empty() || wanted->fence != 0) {
          return run_action([&] { return release(*wanted); }, wanted->quiet);
        }
        std::fputs(
            "holdfast: whose lock should be released? Use --owner ID or --fence N; see holdfast release --help\n",
            stderr);
        return static_cast<int>(usage);
      }};
}

}  // namespace holdfast::cli
