#include <memory>

#include "carry_out.hpp"
#include "free/free.hpp"

namespace holdfast::cli {

namespace {

option_rows voice_rows(hold_options& o) {
  return {{.names = "-q,--quiet", .help = "say nothing, not even what went wrong", .into = &o.quiet},
          {.names = "-v,--verbose", .help = "say who holds it", .into = &o.verbose, .excludes = {"--quiet"}}};
}

}  // namespace

command_spec describe_try(const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  return {
      .name = "try",
      .group = "hold",
      .description = "Say whether a lock could be had now, and take nothing",
      .examples = {{"holdfast try db && echo free", "or exit 75; nothing is taken"},
                   {"holdfast try -v db", "and who holds it"}},
      .options =
          joined({wanted->wanted.wanted_rows(),
                  {{.names = "--json", .help = "print who holds it, one JSON object a name", .into = &wanted->json}},
                  voice_rows(wanted->wanted)}),
      .footer =
          "Exit codes: 0 it could be had, 75 not; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.",
      .act = [wanted] { return carry_out([&] { return try_now(*wanted); }, wanted->wanted.quiet); }};
}

command_spec describe_wait(const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  return {
      .name = "wait",
      .group = "hold",
      .description = "Wait until a lock is free, without taking it",
      .examples = {{"holdfast wait -w 1m db", "until it is free, a minute at most"}},
      .options = joined(
          {wanted->wanted.wanted_rows(),
           {{.names = "-w,--timeout", .value = "D", .help = "wait for so long at most", .into = &wanted->wanted.wait}},
           voice_rows(wanted->wanted)}),
      .footer =
          "Exit codes: 0 it was free at the last look, 75 not within that time; 64 usage, 69 store unreachable, 77 "
          "not allowed, 78 configuration.",
      .act = [wanted] { return carry_out([&] { return wait_until_free(*wanted); }, wanted->wanted.quiet); }};
}

}  // namespace holdfast::cli
