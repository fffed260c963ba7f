#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "carry_out.hpp"
#include "exit_code.hpp"
#include "help/help.hpp"
#include "keeper/keeper.hpp"
#include "options/values.hpp"
#include "run/on_lost.hpp"

namespace holdfast::cli {

namespace {

void add_signal(CLI::App& command, int& into) {
  command
      .add_option_function<std::string>(
          "--on-lost",
          [&into](const std::string& text) {
            const auto read = on_lost::of(text);
            if (!read || !read->line.empty()) {
              throw CLI::ValidationError("'" + text + "' is neither ignore nor a signal; say term, kill, INT, HUP ...");
            }
            into = read->signal;
          },
          "the signal that PID gets when the lock is lost: term, kill, a signal's name [ignore: none]")
      ->option_text("WHAT");
}

}  // namespace

action describe_acquire(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<acquire_options>();
  acquire_options& o = *wanted;
  CLI::App& command = *program.add_subcommand("acquire", "Take a lock, and leave a process that holds it for a script");
  command.group("hold");
  examples(command, {{"holdfast acquire db > held && . ./held", "from here on the script holds it"},
                     {"holdfast acquire --hold-for $$ -w 5s db", "for this shell"}});
  o.hold.add_to(command);
  command
      .add_option_function<pid_t>(
          "--hold-for", [&o](pid_t pid) { o.hold_for = pid; }, "hold it until this process is gone [our parent]")
      ->check(CLI::PositiveNumber)
      ->option_text("PID");
  add_duration(command, "--max-hold", o.hold.max_hold, "hold it for so long at most");
  add_signal(command, o.on_lost);
  command.add_flag("--json", o.json, "print what is held as JSON, not for the shell");
  command.footer(
      "Exit codes: 0 held; 64 usage, 69 store unreachable, 70 it cannot be told what is held, 75 busy, 77 not allowed, "
      "78 configuration, 79 lost at once, 80 given back, but not certainly, 128+n by signal n.");
  return [wanted] { return carry_out([&] { return acquire(*wanted); }, wanted->hold.quiet); };
}

action describe_release(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<release_options>();
  release_options& o = *wanted;
  CLI::App& command = *program.add_subcommand("release", "Give back what holdfast acquire has taken");
  command.group("hold");
  examples(command, {{"holdfast release db --owner $HOLDFAST_OWNER", "what acquire has taken"},
                     {"holdfast release db --fence 42", "the same, by its fence"}});
  command.add_option("NAME", o.name, "what is held; of several, the first that was named")->required();
  o.store.add_to(command);
  CLI::Option* const owner = command.add_option("--owner", o.owner, "who holds it: HOLDFAST_OWNER")->option_text("ID");
  owner->excludes(add_fence(command, "--fence", o.fence, "or by its fence: HOLDFAST_FENCE"));
  command.add_flag("-q,--quiet", o.quiet, "say nothing, not even what went wrong");
  command.footer(
      "Exit codes: 0 given back, 75 held by another, 77 held, but by no keeper of this machine, 79 not held any more: "
      "it was lost, or given back before, 80 not certain; 64 usage, 69 store unreachable, 78 configuration.");
  return [wanted] {
    if (!wanted->owner.empty() || wanted->fence != 0) {
      return carry_out([&] { return release(*wanted); }, wanted->quiet);
    }
    std::fputs("holdfast: whose is it to release? say --owner ID or --fence N; see holdfast release --help\n", stderr);
    return static_cast<int>(usage);
  };
}

}  // namespace holdfast::cli
