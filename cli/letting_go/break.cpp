#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "exit_code.hpp"
#include "letting_go/letting_go.hpp"
#include "letting_go/meant.hpp"
#include "options/name_argument.hpp"
#include "options/store_option.hpp"
#include "options/values.hpp"
#include "text/printable.hpp"

namespace holdfast::cli {

namespace {

struct break_options {
  store_option store{};
  name_argument name{};
  std::uint64_t fence = 0;
  std::string owner{};
  std::string reason{};
  bool yes = false;
};

/// By force means from somebody in particular: whoever looks first, and decides then, shall not hit the next holder.
int tell_whom(const std::string& name, const state& now) {
  if (now.holders.empty()) {
    std::fprintf(stderr, "holdfast: nobody holds %s\n", name.c_str());
    return usage;
  }
  std::fprintf(stderr, "holdfast: break takes %s by force from the holder that you name; say the same again with\n",
               name.c_str());
  for (const state::holder& each : now.holders) {
    const bool by_owner = each.fence == 0 || each.permits != 0;
    const std::string option = by_owner ? "--owner " + printable(each.owner) : "--fence " + std::to_string(each.fence);
    std::fprintf(stderr, "  %s   for %s\n", option.c_str(), list_of({each}).c_str());
  }
  return usage;
}

int tell_moved_on(const std::string& name, const break_options& o, const state& now) {
  const std::string holders = list_of(now.holders);
  const std::string asked = o.fence != 0 ? "fence " + std::to_string(o.fence) : "owner " + printable(o.owner);
  std::fprintf(stderr, "holdfast: %s is not held with %s; nothing is taken: %s\n", name.c_str(), asked.c_str(),
               holders.empty() ? "nobody holds it" : ("it is held by " + holders).c_str());
  return busy;
}

bool is_sure(const std::string& name, const std::vector<state::holder>& those) {
  std::fprintf(
      stderr,
      "Take %s by force from %s?\n"
      "It is not stopped, and may go on until it hears of it: unless its writes are checked by their fences, end it "
      "first.\n"
      "Type yes to take it: ",
      name.c_str(), list_of(those).c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

int break_lock(const break_options& o) {
  const bool named = o.fence != 0 || !o.owner.empty();
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (named && !o.yes && !can_ask) {
    std::fputs("holdfast: break takes a lock by force; without a terminal to ask on it wants --yes\n", stderr);
    return usage;
  }
  const store s = o.store.open();
  const std::string name = printable(o.name.text());
  const state now = s.inspect(o.name.text());
  if (!named) return tell_whom(name, now);
  const std::vector<state::holder> those = meant(now, o.fence, o.owner);
  if (those.empty()) return tell_moved_on(name, o, now);
  if (now.permits != 0 && o.owner.empty()) return tell_whom(name, now);  // permits have no fence of their own
  if (!o.yes && !is_sure(name, those)) {
    std::fputs("holdfast: nothing is taken\n", stderr);
    return busy;
  }
  if (!s.break_lock(o.name.text(), o.fence, o.reason, o.owner)) {
    return tell_moved_on(name, o, s.inspect(o.name.text()));
  }
  std::printf("taken by force: %s from %s\n", name.c_str(), list_of(those).c_str());
  return fine;
}

}  // namespace

command_spec describe_break(const user_command& after_dashes) {
  const auto wanted = std::make_shared<break_options>();
  break_options& o = *wanted;
  return {.name = "break",
          .group = "act",
          .description = "Take a name by force from one who holds it",
          .examples = {{"holdfast break db", "says which fence it has now"},
                       {"holdfast break db --fence 1794799391912139", "take it by force"}},
          .options = {o.name.row("NAME", "which one"),
                      o.store.row(),
                      {.names = "--fence",
                       .value = "N",
                       .help = "from the holder that has this fence, and no other",
                       .into = fence_reader(o.fence)},
                      {.names = "--owner",
                       .value = "ID",
                       .help = "from this one of several readers, or holders of permits",
                       .into = &o.owner},
                      {.names = "--reason", .value = "TEXT", .help = "why; show shows it for a day", .into = &o.reason},
                      {.names = "--yes", .help = "do not ask", .into = &o.yes}},
          .footer =
              "UNSAFE where writes are not checked by their fences: the old holder may go on for a while. See "
              "holdfast revoke.\n"
              "Exit codes: 0 taken; 64 usage, 69 store unreachable, 75 not held with that fence any more.",
          .act = [wanted, &after_dashes] {
            return wanted->name.complete("break", after_dashes, true) ? break_lock(*wanted) : static_cast<int>(usage);
          }};
}

}  // namespace holdfast::cli
