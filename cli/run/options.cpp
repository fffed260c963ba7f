#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "carry_out.hpp"
#include "exit_code.hpp"
#include "help/help.hpp"
#include "options/values.hpp"
#include "run/run.hpp"

namespace holdfast::cli {

namespace {

std::string variable_prefix(const std::string& text) {
  const auto fine = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); };
  const bool digit_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!text.empty() && !digit_first && std::all_of(text.begin(), text.end(), fine)) return "";
  return "'" + text + "' is no beginning of a variable's name; say A to Z, 0 to 9 and _, a digit not first";
}

void add_command_line(CLI::App& command, user_command& into) {
  command
      .add_option_function<std::string>(
          "-c,--command", [&into](const std::string& line) { into = {"/bin/sh", "-c", line}; },
          "run this by /bin/sh -c, instead of a command behind --")
      ->option_text("STRING");
}

void add_limits(CLI::App& command, run_options& o) {
  add_duration(command, "--max-hold", o.hold.max_hold, "stop the command before it has held the lock for so long");
  command
      .add_option_function<std::string>(
          "--on-lost",
          [&o](const std::string& text) {
            const auto read = on_lost::of(text);
            if (!read) {
              throw CLI::ValidationError(
                  "'" + text + "' is neither ignore, nor exec:LINE, nor a signal; say term, kill, INT, HUP ...");
            }
            o.lost = *read;
          },
          "term, kill, a signal's name, ignore, or exec:LINE (for /bin/sh, and then term): what happens to the command "
          "when the lock is lost, or is about to be [term]")
      ->option_text("WHAT");
  add_duration(command, "--grace", o.grace,
               "from that signal to SIGKILL, half of the ttl at most [a quarter of it, 5s at most]");
}

}  // namespace

void add_json(CLI::App& command, hold_options& o) {
  CLI::Option* const json = command.add_flag_callback(
      "--json",
      [&o] {
        o.status_fd = STDERR_FILENO;
        o.quiet = true;
      },
      "say what happens on stderr, one JSON object a line");
  for (const char* const other : {"--status-fd", "--quiet", "--verbose"}) json->excludes(command.get_option(other));
}

void add_supervision(CLI::App& command, run_options& o) {
  add_command_line(command, o.command);
  add_limits(command, o);
  command.add_option("--env-prefix", o.env_prefix, "P_NAME, P_FENCE ... in the command's environment [HOLDFAST]")
      ->check(variable_prefix)
      ->option_text("P");
}

std::string take_command(run_options& o, const user_command& after_dashes) {
  const bool has_line = !o.command.empty();
  if (has_line && !after_dashes.empty()) return "a command is given twice, by -c and behind --";
  if (!has_line && after_dashes.empty()) return "no command is given";
  if (!has_line) o.command = after_dashes;
  return "";
}

action describe_run(CLI::App& program, const user_command& after_dashes) {
  const auto wanted = std::make_shared<run_options>();
  run_options& o = *wanted;
  CLI::App& command = *program.add_subcommand("run", "Hold a lock while a command runs");
  command.group("hold");
  examples(command, {{"holdfast run backup -- ./backup.sh", "one at a time, the others wait"},
                     {"holdfast run -w 5s db -- ./migrate.sh", "for 5s at most, else exit 75"},
                     {"holdfast run --skip nightly -- ./report.sh", "held elsewhere: fine, exit 0"}});
  usage_line(command, "holdfast run [options] NAME... -- CMD [ARG...]\nholdfast run [options] NAME... -c STRING");
  o.hold.add_to(command);
  o.hold.add_skip_to(command);
  add_supervision(command, o);
  add_duration(command, "--min-hold", o.min_hold,
               "keep the lock for so long at least, though the command has ended [0]");
  add_json(command, o.hold);
  command.add_flag("--dry-run", o.dry_run, "say whether it could be had, who holds it and what would be run");
  command.footer(
      "Exit codes: the command's own; 64 usage, 69 store unreachable, 75 busy, 77 not allowed, 78 configuration, "
      "79 lost and stopped, 80 ended but not certain, 126 not executable, 127 not found, 128+n by signal n.\n"
      "The command finds HOLDFAST_NAME, HOLDFAST_FENCE, HOLDFAST_OWNER and HOLDFAST_STORE in its environment, and "
      "HOLDFAST_NAMES, HOLDFAST_FENCES (one a line), HOLDFAST_MODE, HOLDFAST_PERMITS and HOLDFAST_TTL_MS.");
  const CLI::Option* const silent = command.get_option("--quiet");  // --json is not: what is no event is said, too
  return [wanted, silent, &after_dashes] {
    const std::string wrong = take_command(*wanted, after_dashes);
    if (wrong.empty()) return carry_out([&] { return run(*wanted); }, silent->count() > 0);
    std::fprintf(stderr, "holdfast: %s; say: holdfast run NAME -- CMD [ARG...]\n", wrong.c_str());
    return static_cast<int>(usage);
  };
}

}  // namespace holdfast::cli
