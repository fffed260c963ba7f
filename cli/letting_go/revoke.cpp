#include <algorithm>
#include <chrono>
#include <cstdio>
#include <holdfast/limit.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "exit_code.hpp"
#include "letting_go/letting_go.hpp"
#include "letting_go/meant.hpp"
#include "options/name_argument.hpp"
#include "options/store_option.hpp"
#include "options/values.hpp"
#include "text/printable.hpp"

namespace holdfast::cli {

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

/// Those who are left of them at the end of that time. No store tells us when somebody else lets go, so it is asked
/// again and again, less and less often.
std::vector<state::holder> left_after(milliseconds time, const store& s, const std::string& name,
                                      std::vector<state::holder> those) {
  const auto end = boot_clock::now() + time;
  milliseconds pause = 10ms;
  for (;;) {
    const state now = s.inspect(name);
    std::erase_if(those, [&](const state::holder& each) { return !is_still_there(each, now); });
    const auto left = std::chrono::ceil<milliseconds>(end - boot_clock::now());
    if (those.empty() || left <= 0ms) return those;
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min<milliseconds>(2 * pause, 500ms);
  }
}

int revoke(const revoke_options& o) {
  const store s = o.store.open();
  const std::string name = printable(o.name.text());
  // Before they are asked: whoever comes later is not the one who is waited for.
  const std::vector<state::holder> those = meant(s.inspect(o.name.text()), o.fence);
  if (!s.revoke(o.name.text(), o.reason, o.fence)) {
    const std::string with = o.fence != 0 ? " with fence " + std::to_string(o.fence) : "";
    std::fprintf(stderr, "holdfast: nobody holds %s%s; nobody is asked\n", name.c_str(), with.c_str());
    return fine;
  }
  std::printf("asked to let go of %s: %s\n", name.c_str(),
              those.empty() ? "who holds it since a moment" : list_of(those).c_str());
  std::fflush(stdout);
  if (!o.wait) return fine;
  const std::vector<state::holder> left = left_after(*o.wait, s, o.name.text(), those);
  if (left.empty()) return fine;
  std::fprintf(stderr, "holdfast: %s is still held by %s; ask for longer with --wait, or see holdfast break --help\n",
               name.c_str(), list_of(left).c_str());
  return busy;
}

}  // namespace

command_spec describe_revoke(const user_command& after_dashes) {
  const auto wanted = std::make_shared<revoke_options>();
  revoke_options& o = *wanted;
  return {
      .name = "revoke",
      .group = "act",
      .description = "Ask whoever holds a name to let go; they decide",
      .examples = {{"holdfast revoke db --reason deploy", "ask; the holder decides"},
                   {"holdfast revoke db --wait 30s", "and wait until it is gone"}},
      .options = {o.name.row("NAME", "which one"),
                  o.store.row(),
                  {.names = "--fence",
                   .value = "N",
                   .help = "only the holder that has this fence",
                   .into = fence_reader(o.fence)},
                  {.names = "--reason",
                   .value = "TEXT",
                   .help = "why; the holder is told, and show shows it",
                   .into = &o.reason},
                  {.names = "--wait",
                   .value = "D",
                   .help = "until they are gone, but no longer; 75 if they are not",
                   .into = &o.wait}},
      .footer =
          "Exit codes: 0 asked (with --wait: gone), or nobody to ask; 64 usage, 69 store unreachable, 75 still held.",
      .act = [wanted, &after_dashes] {
        return wanted->name.complete("revoke", after_dashes, true) ? revoke(*wanted) : static_cast<int>(usage);
      }};
}

}  // namespace holdfast::cli
