#include <unistd.h>

#include <cstdio>
#include <memory>

#include "carry_out.hpp"
#include "elect/elect.hpp"
#include "exit_code.hpp"

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

command_spec describe_elect(const user_command& after_dashes) {
  const auto wanted = std::make_shared<elect_options>();
  elect_options& o = *wanted;
  hold_options& hold = o.run.hold;
  hold.leads = true;
  return {
      .name = "elect",
      .group = "hold",
      .description = "Run a command while we lead, of all who stand for it",
      .examples = {{"holdfast elect scheduler -- ./scheduler", "on each machine; it runs on one"},
                   {"holdfast elect --observe scheduler", "who leads, one line a change"}},
      .usage = "holdfast elect [options] NAME -- CMD [ARG...]\nholdfast elect --observe [options] NAME",
      .options = joined(
          {{{.names = "NAME",
             .help = "of the election, and of its lock",
             .into = &hold.names,
             .required = true,
             .single = true},
            hold.store.row()},
           hold.manner_rows(),
           supervision_rows(o.run),
           {json_row(hold),
            {.names = "--max-terms", .value = "N", .help = "exit after so many terms [0: never]", .into = &o.max_terms},
            {.names = "--once",
             .help = "exit after the first term, as the command did",
             .into = [&o] { o.max_terms = 1; },
             .excludes = {"--max-terms"}},
            {.names = "--observe",
             .help = "run nothing; print who leads, one line a change",
             .into = &o.observe,
             .excludes = {"--max-terms", "--once", "--ttl", "--label", "--command", "--max-hold", "--on-lost",
                          "--grace", "--env-prefix", "--verbose"}}}}),
      .footer =
          "The command finds HOLDFAST_FENCE, the term, in its environment, and is stopped when the leadership is "
          "lost. A store that gives no answer is asked again for ever.\n"
          "Exit codes: after --once or --max-terms those of run; 126, 127 the command cannot be run; 64 usage, 77 "
          "not allowed, 78 configuration, 128+n by signal n.",
      .after_parse = [&hold] { hold.settle_ttl(); },
      .act =
          [wanted, &after_dashes] {
            return carry_out([&] { return choose(*wanted, after_dashes); }, wanted->run.hold.is_silent());
          }};
}

}  // namespace holdfast::cli
