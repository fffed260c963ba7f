#include <cstdio>
#include <memory>

#include "carry_out.hpp"
#include "exit_code.hpp"
#include "keeper/keeper.hpp"
#include "options/values.hpp"
#include "run/on_lost.hpp"

namespace holdfast::cli {

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
      .options =
          {{.names = "NAME",
            .help = "what is held; of several, the first that was named",
            .into = &o.name,
            .required = true},
           o.store.row(),
           {.names = "--owner",
            .value = "ID",
            .help = "who holds it: HOLDFAST_OWNER",
            .into = &o.owner,
            .excludes = {"--fence"}},
           {.names = "--fence", .value = "N", .help = "or by its fence: HOLDFAST_FENCE", .into = fence_reader(o.fence)},
           {.names = "-q,--quiet", .help = "say nothing, not even what went wrong", .into = &o.quiet}},
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
