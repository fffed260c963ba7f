#include <CLI/CLI.hpp>
#include <memory>

#include "carry_out.hpp"
#include "free/free.hpp"
#include "help/help.hpp"
#include "options/values.hpp"

namespace holdfast::cli {

namespace {

void add_voice(CLI::App& command, hold_options& o) {
  CLI::Option* const silent = command.add_flag("-q,--quiet", o.quiet, "say nothing, not even what went wrong");
  command.add_flag("-v,--verbose", o.verbose, "say who holds it")->excludes(silent);
}

}  // namespace

action describe_try(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  CLI::App& command = *program.add_subcommand("try", "Say whether a lock could be had now, and take nothing");
  command.group("hold");
  examples(command, {{"holdfast try db && echo free", "or exit 75; nothing is taken"},
                     {"holdfast try -v db", "and who holds it"}});
  wanted->wanted.add_wanted_to(command);
  command.add_flag("--json", wanted->json, "print who holds it, one JSON object a name");
  add_voice(command, wanted->wanted);
  command.footer(
      "Exit codes: 0 it could be had, 75 not; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.");
  return [wanted] { return carry_out([&] { return try_now(*wanted); }, wanted->wanted.quiet); };
}

action describe_wait(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  CLI::App& command = *program.add_subcommand("wait", "Wait until a lock is free, without taking it");
  command.group("hold");
  examples(command, {{"holdfast wait -w 1m db", "until it is free, a minute at most"}});
  wanted->wanted.add_wanted_to(command);
  add_duration(command, "-w,--timeout", wanted->wanted.wait, "wait for so long at most");
  add_voice(command, wanted->wanted);
  command.footer(
      "Exit codes: 0 it was free at the last look, 75 not within that time; 64 usage, 69 store unreachable, 77 not "
      "allowed, 78 configuration.");
  return [wanted] { return carry_out([&] { return wait_until_free(*wanted); }, wanted->wanted.quiet); };
}

}  // namespace holdfast::cli
