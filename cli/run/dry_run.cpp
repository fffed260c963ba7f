#include "run/dry_run.hpp"

#include <algorithm>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <vector>

#include "exit_code.hpp"
#include "free/free.hpp"
#include "holding/onlooker.hpp"
#include "holding/status.hpp"
#include "run/teller.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

std::string holders_of(const state& is) {
  if (is.holders.empty()) return "";
  const std::string first = is.holders.front().foreign ? "another library" : is.holders.front().label;
  const std::size_t others = is.holding - 1;
  return others == 0 ? first : first + " and " + std::to_string(others) + " more";
}

/// On stdout: there is no command that it could belong to.
void say(const run_options& o, const std::string& line) {
  if (!o.hold.quiet) std::printf("%s\n", line.c_str());
}

int look_and_tell(const run_options& o, const status& told, const teller& tell) {
  const std::vector<sight> seen = look(o.hold.store.open({}, o.hold.quiet), o.hold, for_one_look());
  for (const auto& [name, is, free] : seen) {
    const std::string holder = holders_of(is);
    told.tell(free ? "free" : "busy", {{"name", name}, {"holder", holder}, {"waiting", std::uint64_t{is.waiting}}});
    std::string line = onlooker::line(name + (free ? ": free" : ": busy"), holder);
    if (is.waiting > 0) line += "; " + std::to_string(is.waiting) + (is.waiting == 1 ? " waits" : " wait");
    say(o, printable(line));  // names, and what the holders say who they are
  }
  const bool all_free = std::ranges::all_of(seen, &sight::free);
  const char* const would = all_free ? "would run: " : o.hold.wait == 0ms ? "would not run: " : "would wait, and run: ";
  say(o, would + shell_words(o.command));
  return tell.end(all_free || o.hold.skip ? int{fine} : o.hold.busy_code, "dry run");
}

}  // namespace

int dry_run(const run_options& o) {
  const status told(o.hold.status_fd);
  const teller tell(o.hold, told);
  try {
    return look_and_tell(o, told, tell);
  } catch (const lock_error& e) {
    return tell.end_wrong(code_of(e), "error", e.what());
  }
}

}  // namespace holdfast::cli
