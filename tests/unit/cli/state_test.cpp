#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admin/admin.hpp"
#include "text/state.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::chrono::system_clock::time_point now(1'000'000s);

state::holder holder(std::string label, std::uint64_t fence = 7) {
  state::holder h;
  h.owner = "0123456789abcdef0123456789abcdef";
  h.label = std::move(label);
  h.host = "web1";
  h.pid = 4711;
  h.program = "holdfast";
  h.fence = fence;
  h.since = now - 192s;
  h.left = 8'400ms;
  return h;
}

state held_by(std::vector<state::holder> those) {
  state s;
  s.holding = those.size();
  s.holders = std::move(those);
  return s;
}

TEST(who, is_host_process_and_label) { EXPECT_EQ(who(holder("nightly")), "web1 4711 nightly"); }

TEST(who, omits_what_the_default_label_repeats) {
  EXPECT_EQ(who(holder("web1 pid 4711: cat")), "web1 4711 cat");
  EXPECT_EQ(who(holder("web2 pid 4711: cat")), "web1 4711 web2 pid 4711: cat");
}

TEST(who, names_the_supervisor_of_a_run_and_not_its_worker) {
  EXPECT_EQ(who(holder("web1 pid 4710: cat")), "web1 4710 cat");
  EXPECT_EQ(who(holder("web1 pid 4710")), "web1 4711 web1 pid 4710");
  EXPECT_EQ(who(holder("web1 pid x: cat")), "web1 4711 web1 pid x: cat");
  EXPECT_EQ(who(holder("web1 pid 99999999999999999999: cat")), "web1 4711 web1 pid 99999999999999999999: cat");
}

TEST(who, uses_whatever_is_known) {
  EXPECT_EQ(who(holder("")), "web1 4711 holdfast");
  state::party unknown;
  unknown.owner = "ab";
  EXPECT_EQ(who(unknown), "owner ab");
  unknown.label = "esc\x1b[31m";
  EXPECT_EQ(who(unknown), "esc\\x1b[31m");
}

TEST(mode_of, distinguishes_locks_readers_and_permits) {
  EXPECT_EQ(mode_of({}), "free");
  EXPECT_EQ(mode_of(held_by({holder("a")})), "lock");
  state readers = held_by({holder("a"), holder("b")});
  readers.holders.front().reads = true;
  readers.holding = 9;
  EXPECT_EQ(mode_of(readers), "shared x9");
  state permits = held_by({holder("a"), holder("b")});
  permits.permits = 10;
  permits.holders[0].permits = 3;
  permits.holders[1].permits = 1;
  EXPECT_EQ(mode_of(permits), "permits 4/10");
  permits.holding = 5;
  EXPECT_EQ(mode_of(permits), "permits 4+/10");
  state foreign = held_by({state::holder()});
  foreign.holders.front().foreign = true;
  EXPECT_EQ(mode_of(foreign), "foreign");
}

TEST(lock_table, has_one_line_per_name) {
  state s = held_by({holder("nightly")});
  s.waiting = 2;
  EXPECT_EQ(lock_table({}).row(lock_cells("jobs/a", s, now)),
            "jobs/a                   lock                        7  3m12s    8s    2      - web1 4711 nightly");
  EXPECT_EQ(lock_table({}).row(lock_cells("new\nline", {}, now)),
            "new\\nline                free                        -      -     -    0      - -");
}

TEST(lock_table, keeps_name_and_waiters_in_the_smallest_terminal) {
  state s = held_by({holder("nightly")});
  s.waiting = 2;
  EXPECT_EQ(lock_table(20).row(lock_cells("jobs/a", s, now)), "jobs/a             2");
  EXPECT_EQ(lock_table(80).header(), "NAME          MODE                    FENCE   HELD  LEFT WAIT HOLDER");
}

TEST(description, includes_the_margin_of_a_redlock_lock) {
  state s = held_by({holder("nightly")});
  s.holders.front().margin = 1;
  std::string all;
  for (const std::string& line : describe("jobs/a", s, now)) all += line + "\n";
  EXPECT_NE(all.find("8s left unless renewed, margin 1\n"), std::string::npos) << all;
}

TEST(description, includes_holders_waiters_and_notes) {
  state s = held_by({holder("nightly")});
  s.waiting = 3;
  s.waiters.emplace_back().label = "next";
  s.waiters.emplace_back().label = "reader";
  s.waiters.back().reads = true;
  s.asked = state::note{.reason = "deploy", .by = "ada@web1 pid 9", .fence = 7, .at = now - 5s};
  s.broken = state::note{.reason = "", .by = "", .fence = 3, .at = {}};
  std::string all;
  for (const std::string& line : describe("jobs/a", s, now)) all += line + "\n";
  EXPECT_NE(
      all.find("jobs/a: lock\n  held by web1 4711 nightly\n    fence 7, owner 0123456789abcdef0123456789abcdef\n"),
      std::string::npos)
      << all;
  EXPECT_NE(all.find("(3m12s), 8s left unless renewed\n"), std::string::npos) << all;
  EXPECT_NE(all.find("  waiting: 3\n    1. next\n    2. reader, reader\n    and 1 more\n"), std::string::npos) << all;
  EXPECT_NE(all.find("  asked to let go 5s ago by ada@web1 pid 9, fence 7: deploy\n"), std::string::npos) << all;
  EXPECT_NE(all.find("  broken, fence 3: no reason was given\n"), std::string::npos) << all;
}

TEST(state_json, has_everything_known) {
  state s = held_by({holder("nightly")});
  s.waiting = 1;
  s.waiters.emplace_back().label = "next";
  s.broken = state::note{.reason = "stuck", .by = "ada", .fence = 3, .at = now};
  EXPECT_EQ(json::parse(to_line(to_json("a", s))), json::parse(R"({
    "name": "a", "mode": "lock", "holding": 1,
    "holders": [{"owner": "0123456789abcdef0123456789abcdef", "label": "nightly", "host": "web1", "pid": 4711,
                 "program": "holdfast", "fence": 7, "since": 999808.0, "left": 8.4}],
    "waiting": 1, "waiters": [{"label": "next"}],
    "broken": {"reason": "stuck", "by": "ada", "fence": 3, "at": 1000000.0}})"));
}

TEST(state_json, is_one_ascii_line_for_any_name) {
  const std::string line = to_line(to_json("a\n\x1b[2J\xc2\x9b\xff", {}));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const char c : line.substr(0, line.size() - 1)) EXPECT_TRUE(c >= ' ' && c < 0x7f);
  EXPECT_EQ(json::parse(line)["name_hex"], "610a1b5b324ac29bff");
  EXPECT_FALSE(json::parse(to_line(to_json("plain", {}))).contains("name_hex"));
}

TEST(matching_holders, have_the_fence_or_owner) {
  state s = held_by({holder("a", 100), holder("b", 300)});
  s.holders[1].owner = "other";
  EXPECT_EQ(matching_holders(s, 0).size(), 2U);
  EXPECT_EQ(to_text(matching_holders(s, 163)), "web1 4711 a (fence 100)");
  EXPECT_TRUE(matching_holders(s, 164).empty());
  EXPECT_TRUE(matching_holders(s, 99).empty());
  EXPECT_EQ(to_text(matching_holders(s, 0, "other")), "web1 4711 b (fence 300)");
  EXPECT_TRUE(matching_holders(s, 100, "other").empty());
}

TEST(still_holds, is_false_after_another_lease) {
  const state s = held_by({holder("a", 100)});
  EXPECT_TRUE(still_holds(holder("a", 100), s));
  EXPECT_FALSE(still_holds(holder("a", 200), s));
  EXPECT_FALSE(still_holds(holder("a", 100), {}));
}

}  // namespace
}  // namespace holdfast::cli
