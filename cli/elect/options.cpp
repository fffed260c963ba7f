#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "carry_out.hpp"
#include "elect/elect.hpp"
#include "exit_code.hpp"
#include "help/help.hpp"

namespace holdfast::cli {

namespace {

int refuse(const std::string& why) {
  std::fprintf(stderr, "holdfast: %s; say: holdfast elect NAME -- CMD [ARG...], or holdfast elect --observe NAME\n",
               why.c_str());
  return usage;
}

int choose(elect_options& o, const user_command& after_dashes) {
  const std::string wrong = take_command(o.run, after_dashes);
  if (!o.observe) return wrong.empty() ? elect(o) : refuse(wrong);
  if (!o.run.command.empty()) return refuse("whoever observes runs no command");
  if (o.run.hold.status_fd == STDERR_FILENO) o.run.hold.status_fd = STDOUT_FILENO;  // --json: there is no command's
  return observe(o);
}

}  // namespace

action describe_elect(CLI::App& program, const user_command& after_dashes) {
  const auto wanted = std::make_shared<elect_options>();
  elect_options& o = *wanted;
  o.run.hold.leads = true;
  CLI::App& command = *program.add_subcommand("elect", "Run a command while we lead, of all who stand for it");
  command.group("hold");
  examples(command, {{"holdfast elect scheduler -- ./scheduler", "on each machine; it runs on one"},
                     {"holdfast elect --observe scheduler", "who leads, one line a change"}});
  usage_line(command, "holdfast elect [options] NAME -- CMD [ARG...]\nholdfast elect --observe [options] NAME");
  command.add_option("NAME", o.run.hold.names, "of the election, and of its lock")->required()->expected(1);
  o.run.hold.store.add_to(command);
  o.run.hold.add_manner_to(command);
  add_supervision(command, o.run);
  add_json(command, o.run.hold);
  CLI::Option* const terms = command.add_option("--max-terms", o.max_terms, "exit after so many terms [0: never]");
  terms->option_text("N");
  CLI::Option* const once =
      command.add_flag_callback("--once", [&o] { o.max_terms = 1; }, "exit after the first term, as the command did");
  once->excludes(terms);
  CLI::Option* const observes =
      command.add_flag("--observe", o.observe, "run nothing; print who leads, one line a change");
  observes->excludes(terms)->excludes(once);
  for (const char* const of_a_leader :
       {"--ttl", "--label", "--command", "--max-hold", "--on-lost", "--grace", "--env-prefix", "--verbose"}) {
    observes->excludes(command.get_option(of_a_leader));
  }
  command.footer(
      "The command finds HOLDFAST_FENCE, the term, in its environment, and is stopped when the leadership is lost. A "
      "store that gives no answer is asked again for ever.\n"
      "Exit codes: after --once or --max-terms those of run; 126, 127 the command cannot be run; 64 usage, 77 not "
      "allowed, 78 configuration, 128+n by signal n.");
  const CLI::Option* const silent = command.get_option("--quiet");  // --json is not: what is no event is said, too
  return [wanted, silent, &after_dashes] {
    return carry_out([&] { return choose(*wanted, after_dashes); }, silent->count() > 0);
  };
}

}  // namespace holdfast::cli
