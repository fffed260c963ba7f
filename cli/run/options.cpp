#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "hold/acquisition.hpp"
#include "hold/status.hpp"
#include "probe/probe.hpp"
#include "run/run.hpp"
#include "text/utf8.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

std::optional<on_lost> on_lost::of(const std::string& text) {
  static const std::map<std::string, int> known{
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"ABRT", SIGABRT},
  };
  constexpr std::string_view exec = "exec:";
  if (text.starts_with(exec) && text.size() > exec.size()) return on_lost{SIGTERM, text.substr(exec.size())};
  std::string word = text;
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (word == "IGNORE") return on_lost{0};
  if (word.starts_with("SIG")) word.erase(0, 3);
  const auto at = known.find(word);
  if (at == known.end()) return std::nullopt;
  return on_lost{at->second};
}

environment variables(const run_options& o, const store& in, const lease& held) {
  const std::string prefix = o.env_prefix + "_";
  std::string names, fences;
  for (const std::string& name : o.hold.names) {
    const bool first = name == o.hold.names.front();
    names += (names.empty() ? "" : "\n") + name;
    fences += (fences.empty() ? "" : "\n") + std::to_string(first ? held.fence() : held.fence(name));
  }
  std::optional<std::string> permits;
  if (o.hold.permits) permits = std::to_string(o.hold.permits->taken) + "/" + std::to_string(o.hold.permits->all);
  std::optional<std::string> ttl;
  if (in.promises().by == guarantees::exclusion::lease) ttl = std::to_string(o.hold.ttl.count());
  return {{prefix + "NAME", o.hold.names.front()},
          {prefix + "FENCE", std::to_string(held.fence())},
          {prefix + "NAMES", names},
          {prefix + "FENCES", fences},
          {prefix + "PERMITS", permits},
          {prefix + "MODE", permits         ? "permits"
                            : o.hold.shared ? "shared"
                                            : "lock"},
          {prefix + "TTL_MS", ttl},
          {prefix + "OWNER", held.owner()},
          {prefix + "STORE", in.url()},
          {prefix + "LOST_WHY", std::nullopt}};
}

namespace {

using namespace std::chrono_literals;

std::string holders_of(const state& is) {
  if (is.holders.empty()) return "";
  const std::string first = is.holders.front().foreign ? "another library" : is.holders.front().label;
  const std::size_t others = is.holding - 1;
  return others == 0 ? first : first + " and " + std::to_string(others) + " more";
}

/// On stdout, since no command uses it.
void say(const run_options& o, const std::string& line) {
  if (!o.hold.quiet) std::printf("%s\n", line.c_str());
}

int report_probe(const run_options& o, const status& events, const reporter& report) {
  const std::vector<probe_result> seen = look(o.hold.store.open({}, o.hold.quiet), o.hold, probe_limit());
  for (const auto& [name, is, free] : seen) {
    const std::string holder = holders_of(is);
    events.write(free ? "free" : "busy", {{"name", name}, {"holder", holder}, {"waiting", std::uint64_t{is.waiting}}});
    std::string line = event_recorder::line(name + (free ? ": free" : ": busy"), holder);
    if (is.waiting > 0) line += "; " + std::to_string(is.waiting) + (is.waiting == 1 ? " waits" : " wait");
    say(o, printable(line));  // names and labels are written by other clients
  }
  const bool all_free = std::ranges::all_of(seen, &probe_result::free);
  const char* const would = all_free ? "would run: " : o.hold.wait == 0ms ? "would not run: " : "would wait, and run: ";
  say(o, would + shell_words(o.command));
  return report.end(all_free || o.hold.skip ? int{fine} : o.hold.busy_code, "dry run");
}

}  // namespace

int dry_run(const run_options& o) {
  const status events(o.hold.status_fd);
  const reporter report(o.hold, events);
  try {
    return report_probe(o, events, report);
  } catch (const lock_error& e) {
    return report.end_wrong(code_of(e), "error", e.what());
  }
}

namespace {

std::string variable_prefix(const std::string& text) {
  const auto fine = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); };
  const bool digit_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!text.empty() && !digit_first && std::all_of(text.begin(), text.end(), fine)) return "";
  return "'" + text + "' is not a valid prefix of variable names; use A to Z, 0 to 9 and _, not beginning with a digit";
}

value_reader on_lost_reader(on_lost& into) {
  return [&into](const std::string& text) -> std::string {
    const auto read = on_lost::of(text);
    if (!read) return "'" + text + "' is neither ignore, nor exec:LINE, nor a signal; use term, kill, INT, HUP ...";
    into = *read;
    return "";
  };
}

}  // namespace

option_spec json_row(hold_options& o) {
  return {.names = "--json",
          .help = "write events to stderr, one JSON object per line",
          .into =
              [&o] {
                o.status_fd = STDERR_FILENO;
                o.quiet = true;
                o.json = true;
              },
          .excludes = {"--status-fd", "--quiet", "--verbose"}};
}

option_rows command_rows(run_options& o) {
  const auto shell_line = [&o](const std::string& line) -> std::string {
    o.command = {"/bin/sh", "-c", line};
    return "";
  };
  return {{.names = "-c,--command",
           .value = "STRING",
           .help = "run this with /bin/sh -c, instead of a command after --",
           .into = shell_line},
          {.names = "--max-hold",
           .value = "D",
           .help = "stop the command before it has held the lock for this long",
           .into = &o.hold.max_hold},
          {.names = "--on-lost",
           .value = "WHAT",
           .help = "what to do when the lock is lost or about to be: term, kill, a signal name, ignore, or exec:LINE "
                   "(a line for /bin/sh, followed by term) [term]",
           .into = on_lost_reader(o.lost)},
          {.names = "--grace",
           .value = "D",
           .help = "time between that signal and SIGKILL, at most half of the ttl [a quarter of it, at most 5s]",
           .into = &o.grace},
          {.names = "--env-prefix",
           .value = "P",
           .help = "P_NAME, P_FENCE ... in the command's environment [HOLDFAST]",
           .into = &o.env_prefix,
           .check = variable_prefix}};
}

std::string take_command(run_options& o, const user_command& after_dashes) {
  const bool has_line = !o.command.empty();
  if (has_line && !after_dashes.empty()) return "two commands given, with -c and after --";
  if (!has_line && after_dashes.empty()) return "no command given";
  if (!has_line) o.command = after_dashes;
  return "";
}

command_spec describe_run(const user_command& after_dashes) {
  const auto wanted = std::make_shared<run_options>();
  run_options& o = *wanted;
  return {
      .name = "run",
      .group = "hold",
      .description = "Hold a lock while a command runs",
      .examples = {{"holdfast run backup -- ./backup.sh", "one at a time, the others wait"},
                   {"holdfast run -w 5s db -- ./migrate.sh", "wait at most 5s, else exit 75"},
                   {"holdfast run --skip nightly -- ./report.sh", "exit 0 if it is held elsewhere"}},
      .usage = "holdfast run [options] NAME... -- CMD [ARG...]\nholdfast run [options] NAME... -c STRING",
      .options = joined({o.hold.rows(),
                         {o.hold.skip_row()},
                         command_rows(o),
                         {{.names = "--min-hold",
                           .value = "D",
                           .help = "hold the lock at least this long, even if the command ends earlier [0]",
                           .into = &o.min_hold},
                          json_row(o.hold),
                          {.names = "--dry-run",
                           .help = "print whether the lock is free, who holds it and what would be run",
                           .into = &o.dry_run}}}),
      .footer =
          "Exit codes: the command's own; 64 usage, 69 store unreachable, 75 busy, 77 not allowed, 78 configuration, "
          "79 lost and stopped, 80 ended but not certain, 126 not executable, 127 not found, 128+n by signal n.\n"
          "The command finds HOLDFAST_NAME, HOLDFAST_FENCE, HOLDFAST_OWNER and HOLDFAST_STORE in its environment, and "
          "HOLDFAST_NAMES, HOLDFAST_FENCES (one a line), HOLDFAST_MODE, HOLDFAST_PERMITS and HOLDFAST_TTL_MS.",
      .runs_command = true,
      .after_parse = [&o] { o.hold.resolve_ttl(); },
      .act =
          [wanted, &after_dashes] {
            const std::string wrong = take_command(*wanted, after_dashes);
            if (wrong.empty()) return run_action([&] { return run(*wanted); }, wanted->hold.is_silent());
            std::fprintf(stderr, "holdfast: %s; usage: holdfast run NAME -- CMD [ARG...]\n", wrong.c_str());
            return static_cast<int>(usage);
          }};
}

}  // namespace holdfast::cli
