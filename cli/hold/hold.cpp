#include "hold/hold.hpp"

#include <unistd.h>

#include <memory>

#include "carry_out.hpp"
#include "holding/holder.hpp"
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

command_spec describe_hold(const user_command&) {
  const auto wanted = std::make_shared<hold_options>();
  return {
      .name = "hold",
      .group = "hold",
      .description = "Hold a lock until stdin ends; tell what happens on stdout",
      .examples = {{"holdfast hold db < pipe > events", "until the other end of the pipe is closed"},
                   {"holdfast hold -w 5s db", "on a terminal: until Ctrl-D"}},
      .options = joined(
          {wanted->rows(),
           {{.names = "--max-hold", .value = "D", .help = "hold it for so long at most", .into = &wanted->max_hold}}}),
      .footer =
          "One JSON object a line on stdout, or on --status-fd: waiting, busy, acquired, revoke_requested, lost, "
          "released, end.\n"
          "Exit codes: 0 when stdin has ended, 128+n by signal n, 79 lost, 80 not certain to be given back; 64 "
          "usage, 69 store unreachable, 75 busy, 77 not allowed, 78 configuration.",
      .after_parse = [&o = *wanted] { o.settle_ttl(); },
      .act = [wanted] { return carry_out([&] { return hold(*wanted); }, wanted->quiet); }};
}

}  // namespace holdfast::cli
