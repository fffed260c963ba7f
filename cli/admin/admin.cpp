#include "admin/admin.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <holdfast/limit.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "exit_code.hpp"
#include "options/values.hpp"
#include "text/state.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

constexpr std::uint64_t fences_in_a_block = 64;  // the state shows the first; a lease may have any of the block

bool covers(const state::holder& h, std::uint64_t fence) noexcept {
  return fence == 0 || h.fence == 0 || (fence >= h.fence && fence - h.fence < fences_in_a_block);
}

}  // namespace

std::vector<state::holder> matching_holders(const state& s, std::uint64_t fence, std::string_view owner) {
  std::vector<state::holder> those;
  std::copy_if(s.holders.begin(), s.holders.end(), std::back_inserter(those),
               [&](const state::holder& h) { return covers(h, fence) && (owner.empty() || h.owner == owner); });
  return those;
}

std::string to_text(const std::vector<state::holder>& those) {
  std::string all;
  for (const state::holder& each : those) {
    if (!all.empty()) all += ", ";
    all += each.foreign ? "another library" : who(each);
    if (each.fence != 0) all += " (fence " + std::to_string(each.fence) + ")";
  }
  return all;
}

bool still_holds(const state::holder& h, const state& now) {
  return std::any_of(now.holders.begin(), now.holders.end(), [&](const state::holder& other) {
    return other.owner == h.owner && (h.permits != 0 || other.fence == h.fence);
  });
}

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct revoke_options {
  store_option store{};
  name_argument name{};
  std::uint64_t fence = 0;
  std::string reason{};
  std::optional<milliseconds> wait{};
};

/// Returns the holders that are left after that time. Stores send no notification about a release to non-waiters, so
/// this polls, with growing pauses.
std::vector<state::holder> wait_until_released(milliseconds time, const store& s, const std::string& name,
                                               std::vector<state::holder> those) {
  const auto end = boot_clock::now() + time;
  milliseconds pause = 10ms;
  for (;;) {
    const state now = s.inspect(name);
    std::erase_if(those, [&](const state::holder& each) { return !still_holds(each, now); });
    const auto left = std::chrono::ceil<milliseconds>(end - boot_clock::now());
    if (those.empty() || left <= 0ms) return those;
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min<milliseconds>(2 * pause, 500ms);
  }
}

int revoke(const revoke_options& o) {
  const store s = o.store.open();
  const std::string name = printable(o.name.text());
  // before the request, so that later holders are not waited for
  const std::vector<state::holder> those = matching_holders(s.inspect(o.name.text()), o.fence);
  if (!s.revoke(o.name.text(), o.reason, o.fence)) {
    const std::string with = o.fence != 0 ? " with fence " + std::to_string(o.fence) : "";
    std::fprintf(stderr, "holdfast: %s is not held%s; nobody is asked\n", name.c_str(), with.c_str());
    return fine;
  }
  std::printf("asked to let go of %s: %s\n", name.c_str(),
              those.empty() ? "a holder that came a moment ago" : to_text(those).c_str());
  std::fflush(stdout);
  if (!o.wait) return fine;
  const std::vector<state::holder> left = wait_until_released(*o.wait, s, o.name.text(), those);
  if (left.empty()) return fine;
  std::fprintf(stderr, "holdfast: %s is still held by %s; wait longer with --wait, or see holdfast break --help\n",
               name.c_str(), to_text(left).c_str());
  return busy;
}

}  // namespace

command_spec describe_revoke(const user_command&) {
  const auto wanted = std::make_shared<revoke_options>();
  revoke_options& o = *wanted;
  return {
      .name = "revoke",
      .group = "act",
      .description = "Ask the holders of a lock to release it; they decide",
      .examples = {{"holdfast revoke db --reason deploy", "ask; the holder decides"},
                   {"holdfast revoke db --wait 30s", "and wait until it is released"}},
      .options = joined({o.name.name_rows("the lock"),
                         {o.store.row(),
                          {.names = "--fence",
                           .value = "N",
                           .help = "only the holder with this fence",
                           .into = fence_reader(o.fence)},
                          {.names = "--reason",
                           .value = "TEXT",
                           .help = "the reason; the holder receives it, and show prints it",
                           .into = &o.reason},
                          {.names = "--wait",
                           .value = "D",
                           .help = "wait this long for the release; exit 75 if still held",
                           .into = &o.wait}}}),
      .footer =
          "Exit codes: 0 asked (with --wait: released), or not held; 64 usage, 69 store unreachable, 75 still held.",
      .act = [wanted] { return revoke(*wanted); }};
}

namespace {

struct break_options {
  store_option store{};
  name_argument name{};
  std::uint64_t fence = 0;
  std::string owner{};
  std::string reason{};
  bool yes = false;
};

/// The user must name the holder, so that a lock that has changed hands meanwhile is not broken.
int print_holders(const std::string& name, const state& now) {
  if (now.holders.empty()) {
    std::fprintf(stderr, "holdfast: %s is not held\n", name.c_str());
    return usage;
  }
  std::fprintf(stderr, "holdfast: break takes %s by force from the holder that you name; repeat the command with\n",
               name.c_str());
  for (const state::holder& each : now.holders) {
    const bool by_owner = each.fence == 0 || each.permits != 0;
    const std::string option = by_owner ? "--owner " + printable(each.owner) : "--fence " + std::to_string(each.fence);
    std::fprintf(stderr, "  %s   for %s\n", option.c_str(), to_text({each}).c_str());
  }
  return usage;
}

int print_moved_on(const std::string& name, const break_options& o, const state& now) {
  const std::string holders = to_text(now.holders);
  const std::string asked = o.fence != 0 ? "fence " + std::to_string(o.fence) : "owner " + printable(o.owner);
  std::fprintf(stderr, "holdfast: %s is not held with %s; nothing is taken: %s\n", name.c_str(), asked.c_str(),
               holders.empty() ? "nobody holds it" : ("it is held by " + holders).c_str());
  return busy;
}

bool confirm(const std::string& name, const std::vector<state::holder>& those) {
  std::fprintf(stderr,
               "Take %s by force from %s?\n"
               "The holder is not stopped, and may go on until it notices: unless its writes are checked by their "
               "fences, stop it first.\n"
               "Type yes to take it: ",
               name.c_str(), to_text(those).c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

int break_lock(const break_options& o) {
  const bool named = o.fence != 0 || !o.owner.empty();
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (named && !o.yes && !can_ask) {
    std::fputs("holdfast: break takes a lock by force; without a terminal to ask on it needs --yes\n", stderr);
    return usage;
  }
  const store s = o.store.open();
  const std::string name = printable(o.name.text());
  const state now = s.inspect(o.name.text());
  if (!named) return print_holders(name, now);
  const std::vector<state::holder> those = matching_holders(now, o.fence, o.owner);
  if (those.empty()) return print_moved_on(name, o, now);
  if (now.permits != 0 && o.owner.empty()) return print_holders(name, now);  // permits share a fence
  if (!o.yes && !confirm(name, those)) {
    std::fputs("holdfast: nothing is taken\n", stderr);
    return busy;
  }
  if (!s.break_lock(o.name.text(), o.fence, o.reason, o.owner)) {
    return print_moved_on(name, o, s.inspect(o.name.text()));
  }
  std::printf("taken by force: %s from %s\n", name.c_str(), to_text(those).c_str());
  return fine;
}

}  // namespace

command_spec describe_break(const user_command&) {
  const auto wanted = std::make_shared<break_options>();
  break_options& o = *wanted;
  return {
      .name = "break",
      .group = "act",
      .description = "Take a lock by force from its holder",
      .examples = {{"holdfast break db", "prints the fence it has now"},
                   {"holdfast break db --fence 1794799391912139", "take it by force"}},
      .options = joined(
          {o.name.name_rows("the lock"),
           {o.store.row(),
            {.names = "--fence",
             .value = "N",
             .help = "only from the holder with this fence",
             .into = fence_reader(o.fence)},
            {.names = "--owner",
             .value = "ID",
             .help = "only from this owner, one of several readers or permit holders",
             .into = &o.owner},
            {.names = "--reason", .value = "TEXT", .help = "the reason; show prints it for a day", .into = &o.reason},
            {.names = "--yes", .help = "do not ask", .into = &o.yes}}}),
      .footer =
          "UNSAFE unless writes are checked by their fences: the old holder may go on for a while. See "
          "holdfast revoke.\n"
          "Exit codes: 0 taken; 64 usage, 69 store unreachable, 75 not held with that fence any more.",
      .act = [wanted] { return break_lock(*wanted); }};
}

}  // namespace holdfast::cli
