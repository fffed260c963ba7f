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
#include "process/process_end.hpp"
#include "process/signals.hpp"
#include "run/run.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

/// Nothing of the caller's but these; stderr stays until the lock is had, to say what is wrong.
void let_go_of_descriptors(int one, int other) {
  const auto [low, high] = std::minmax({static_cast<unsigned>(one), static_cast<unsigned>(other)});
  if (low > 3) ::close_range(3, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
  turn_to_null(STDIN_FILENO);
  turn_to_null(STDOUT_FILENO);
}

/// In the fork. Signals are still blocked.
[[noreturn]] void become_keeper(const acquire_options& o, process_end& whom, int caller, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_NAME, "holdfast-keeper");
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) std::signal(number, SIG_DFL);  // though a caller ignores
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(by_signal + SIGTERM);  // it was gone before we could ask
  int code = internal;
  try {
    let_go_of_descriptors(caller, whom.fd());
    code = keep(o, whom, caller);
  } catch (const std::exception& e) {
    if (!o.hold.quiet) std::fprintf(stderr, "holdfast: %s\n", e.what());
  }
  ::_exit(code);
}

/// The foreground: reads what the keeper tells, and says it.
class caller {
 public:
  caller(const acquire_options& o, caught_signals& signals, pid_t keeper, descriptor from)
      : options_(o), signals_(signals), keeper_(keeper), from_(std::move(from)) {}

  int go() {
    for (;;) {
      pollfd both[] = {{signals_.fd(), POLLIN, 0}, {from_.get(), POLLIN, 0}};
      ::poll(both, 2, -1);
      if (signals_.asked_to_stop() != 0) ::kill(keeper_, SIGTERM);  // ours until it is waited for
      if (both[1].revents == 0) continue;
      char part[4096];
      const ssize_t n = ::recv(from_.get(), part, sizeof part, 0);
      if (n <= 0) return not_had();
      text_.append(part, static_cast<std::size_t>(n));
      for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
        if (!hear(text_.substr(0, end + 1))) continue;
        if (signals_.asked_to_stop() == 0) return say_what_is_had();
        ::kill(keeper_, SIGTERM);  // it waits for our answer, and we for its end
      }
    }
  }

 private:
  /// True: this is the line that the lock is had.
  bool hear(const std::string& line) {
    if (options_.hold.status_fd >= 0) write_while_read(options_.hold.status_fd, line);
    had_ = json_value::parse(line);
    return had_.text("event") == "acquired";
  }

  int say_what_is_had() {
    const auto fence = static_cast<unsigned long long>(had_.number("fence"));
    // Where it hides a password, what has led us to it stays as it is: it leads others there, too.
    const std::optional<std::string> store = options_.hold.store.url_for_others();
    if (options_.hold.verbose) {
      say_in_words("acquired " + options_.hold.what() + ", fence " + std::to_string(fence));
    }
    if (options_.json) {
      had_["name"] = options_.hold.names.front();  // by which it is released
      had_["keeper"] = keeper_;
      if (store) had_["store"] = *store;
      std::puts(had_.dump(json_value::charset::utf8).c_str());
    } else {
      std::printf("export HOLDFAST_NAME=%s\nexport HOLDFAST_FENCE=%llu\nexport HOLDFAST_OWNER=%s\n",
                  shell_word(options_.hold.names.front()).c_str(), fence, had_.text("owner").c_str());
      if (store) std::printf("export HOLDFAST_STORE=%s\n", shell_word(*store).c_str());
    }
    const char yes = '!';
    const bool said = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (said && ::send(from_.get(), &yes, 1, MSG_NOSIGNAL) == 1) return fine;
    const int why = errno;
    from_.reset();  // the keeper gives it back
    (void)not_had();
    throw std::system_error(why, std::generic_category(), "what is held cannot be told, and was given back");
  }

  /// The keeper's exit code, at its end; never 0: a script would go on without the lock.
  int not_had() {
    int status = 0;
    while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
    if (const int by = signals_.asked_to_stop(); by != 0) return by_signal + by;
    if (WIFEXITED(status)) return WEXITSTATUS(status) == fine ? int{busy} : WEXITSTATUS(status);
    if (!options_.hold.quiet) std::fputs("holdfast: the keeper was killed before it had the lock\n", stderr);
    return internal;
  }

  const acquire_options& options_;
  caught_signals& signals_;
  const pid_t keeper_;
  descriptor from_;
  std::string text_;
  json_value had_;
};

int reject(const std::string& why) {
  std::fprintf(stderr, "holdfast: %s; see holdfast acquire --help\n", why.c_str());
  return usage;
}

/// What is wrong with holding it for our parent; empty: nothing.
std::string wrong_parent(pid_t parent) {
  if (parent <= 1)
    return "whoever started us is gone, or is no process of ours; say for whom to hold it: --hold-for PID";
  if (is_subshell(parent)) {
    return "we were started by a subshell, which may end before the script does; say for whom to hold it: "
           "--hold-for $$ for the script, --hold-for $BASHPID for the subshell";
  }
  return "";
}

}  // namespace

int acquire(const acquire_options& o) {
  const pid_t pid = o.hold_for.value_or(::getppid());
  if (const std::string wrong = o.hold_for ? "" : wrong_parent(pid); !wrong.empty()) return reject(wrong);
  std::optional<process_end> whom;
  try {
    whom.emplace(pid);
  } catch (const std::system_error& e) {
    return reject("--hold-for: " + std::string(e.what()));
  }
  if (o.on_lost != 0 && whom->signal(0) != 0)
    return reject("--on-lost: we may not signal process " + std::to_string(pid));
  caught_signals signals;  // before the keeper, so that none is missed
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  descriptor ours(ends[0]), its(ends[1]);
  const pid_t us = ::getpid();
  const pid_t keeper = ::fork();
  if (keeper < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (keeper == 0) become_keeper(o, *whom, its.get(), us);
  its.reset();
  return caller(o, signals, keeper, std::move(ours)).go();
}

namespace {

value_reader signal_reader(int& into) {
  return [&into](const std::string& text) -> std::string {
    const auto read = on_lost::of(text);
    if (!read || !read->line.empty()) {
      return "'" + text + "' is neither ignore nor a signal; say term, kill, INT, HUP ...";
    }
    into = read->signal;
    return "";
  };
}

}  // namespace

command_spec describe_acquire(const user_command&) {
  const auto wanted = std::make_shared<acquire_options>();
  acquire_options& o = *wanted;
  return {.name = "acquire",
          .group = "hold",
          .description = "Take a lock, and leave a process that holds it for a script",
          .examples = {{"holdfast acquire db > held && . ./held", "from here on the script holds it"},
                       {"holdfast acquire --hold-for $$ -w 5s db", "for this shell"}},
          .options = joined(
              {o.hold.rows(),
               {{.names = "--hold-for",
                 .value = "PID",
                 .help = "hold it until this process is gone [our parent]",
                 .into = &o.hold_for,
                 .positive = true},
                {.names = "--max-hold", .value = "D", .help = "hold it for so long at most", .into = &o.hold.max_hold},
                {.names = "--on-lost",
                 .value = "WHAT",
                 .help = "the signal that PID gets when the lock is lost: term, kill, a signal's name [ignore: none]",
                 .into = signal_reader(o.on_lost)},
                {.names = "--json", .help = "print what is held as JSON, not for the shell", .into = &o.json}}}),
          .footer =
              "Exit codes: 0 held; 64 usage, 69 store unreachable, 70 it cannot be told what is held, 75 busy, 77 not "
              "allowed, 78 configuration, 79 lost at once, 80 given back, but not certainly, 128+n by signal n.",
          .after_parse = [&o] { o.hold.settle_ttl(); },
          .act = [wanted] { return carry_out([&] { return acquire(*wanted); }, wanted->hold.quiet); }};
}

command_spec describe_release(const user_command&) {
  const auto wanted = std::make_shared<release_options>();
  release_options& o = *wanted;
  return {
      .name = "release",
      .group = "hold",
      .description = "Give back what holdfast acquire has taken",
      .examples = {{"holdfast release db --owner $HOLDFAST_OWNER", "what acquire has taken"},
                   {"holdfast release db --fence 42", "the same, by its fence"}},
      .options = joined({o.name.name_rows("what is held; of several, the first that was named"),
                         {o.store.row(),
                          {.names = "--owner",
                           .value = "ID",
                           .help = "who holds it: HOLDFAST_OWNER",
                           .into = &o.owner,
                           .excludes = {"--fence"}},
                          {.names = "--fence",
                           .value = "N",
                           .help = "or by its fence: HOLDFAST_FENCE",
                           .into = fence_reader(o.fence)},
                          {.names = "-q,--quiet", .help = "say nothing, not even what went wrong", .into = &o.quiet}}}),
      .footer =
          "Exit codes: 0 given back, 75 held by another, 77 held, but by no keeper of this machine, 79 not held any "
          "more: it was lost, or given back before, 80 not certain; 64 usage, 69 store unreachable, 78 "
          "configuration.",
      .act = [wanted] {
        if (!wanted->owner.empty() || wanted->fence != 0) {
          return carry_out([&] { return release(*wanted); }, wanted->quiet);
        }
        std::fputs("holdfast: whose is it to release? say --owner ID or --fence N; see holdfast release --help\n",
                   stderr);
        return static_cast<int>(usage);
      }};
}

}  // namespace holdfast::cli
