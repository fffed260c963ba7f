#include "hold/hold.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "carry_out.hpp"
#include "help/help.hpp"
#include "holding/holder.hpp"
#include "options/values.hpp"
#include "process/input_end.hpp"

namespace holdfast::cli {

namespace {

int hold(const hold_options& o) {
  const status told(o.status_fd >= 0 ? o.status_fd : STDOUT_FILENO);
  input_end until;
  holder mine(o, told, until, o.label_for("hold"));
  if (const int not_had = mine.acquire(); not_had >= 0) return not_had;
  mine.tell_acquired();
  return mine.give_back(mine.wait());
}

}  // namespace

action describe_hold(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<hold_options>();
  CLI::App& command = *program.add_subcommand("hold", "Hold a lock until stdin ends; tell what happens on stdout");
  command.group("hold");
  examples(command, {{"holdfast hold db < pipe > events", "until the other end of the pipe is closed"},
                     {"holdfast hold -w 5s db", "on a terminal: until Ctrl-D"}});
  wanted->add_to(command);
  add_duration(command, "--max-hold", wanted->max_hold, "hold it for so long at most");
  command.footer(
      "One JSON object a line on stdout, or on --status-fd: waiting, busy, acquired, revoke_requested, lost, released, "
      "end.\n"
      "Exit codes: 0 when stdin has ended, 128+n by signal n, 79 lost, 80 not certain to be given back; 64 usage, 69 "
      "store unreachable, 75 busy, 77 not allowed, 78 configuration.");
  return [wanted] { return carry_out([&] { return hold(*wanted); }, wanted->quiet); };
}

}  // namespace holdfast::cli
