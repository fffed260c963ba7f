#include <gtest/gtest.h>

#include "text/utf8.hpp"
#include "top/draw.hpp"
#include "top/model.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using kind = key::kind;
using view = top_model::view;

const std::chrono::system_clock::time_point now(1'000'000s);

std::vector<kind> kinds(const std::vector<key>& keys) {
  std::vector<kind> all;
  for (const key& each : keys) all.push_back(each.what);
  return all;
}

TEST(keys, are_characters_or_escape_sequences) {
  key_reader r;
  EXPECT_EQ(kinds(r.take("a\x1b[A\x1bOB\x1b[5~\r\x7f")),
            (std::vector{kind::text, kind::up, kind::down, kind::page_up, kind::enter, kind::backspace}));
  EXPECT_FALSE(r.is_waiting());
}

TEST(keys, may_arrive_in_parts) {
  key_reader r;
  EXPECT_TRUE(r.take("\x1b").empty());
  EXPECT_TRUE(r.take("[").empty());
  EXPECT_EQ(kinds(r.take("6~")), std::vector{kind::page_down});
  EXPECT_TRUE(r.take("\xc3").empty());
  EXPECT_EQ(r.take("\xa4").at(0).text, "ä");
}

TEST(keys, are_escape_if_nothing_follows) {
  key_reader r;
  EXPECT_TRUE(r.take("\x1b").empty());
  EXPECT_TRUE(r.is_waiting());
  EXPECT_EQ(kinds(r.give_up()), std::vector{kind::escape});
  EXPECT_EQ(kinds(r.take("\x1bq")), (std::vector{kind::escape, kind::text}));
}

TEST(keys, that_are_unknown_are_ignored) {
  key_reader r;
  EXPECT_TRUE(r.take("\x1b[1;5D\x1b[200~\x01\xff").empty());
  EXPECT_FALSE(r.is_waiting());
}

listing::entry entry(const std::string& name, std::size_t waiting, std::chrono::seconds held) {
  listing::entry e{name, {}};
  state::holder& h = e.now.holders.emplace_back();
  h.host = "web1";
  h.pid = 4711;
  h.label = "job of " + name;
  h.fence = 7;
  h.since = now - held;
  e.now.holding = 1;
  e.now.waiting = waiting;
  return e;
}

class top : public testing::Test {
 protected:
  top() { model_.set_names({entry("calm", 0, 10s), entry("busy", 5, 1s), entry("old", 0, 90s)}, now); }
  std::optional<top_request> type(const std::string& bytes) {
    std::optional<top_request> last;
    key_reader r;
    for (const auto& keys : {r.take(bytes), r.give_up()}) {
      for (const key& each : keys) last = model_.press(each);
    }
    return last;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const std::size_t at : model_.found()) all.push_back(model_.names()[at].name);
    return all;
  }
  [[nodiscard]] std::string selected() const { return names().at(model_.selected()); }
  [[nodiscard]] std::string drawn(std::size_t columns, std::size_t rows, bool colours = false) const {
    const auto lines = draw(model_, {columns, rows}, style::with_colours(colours), now);
    EXPECT_EQ(lines.size(), rows);
    std::string all;
    for (const std::string& line : lines) {
      EXPECT_TRUE(colours || columns_of(line) <= columns) << line;
      all += line + "\n";
    }
    return all;
  }
  top_model model_;
};

TEST_F(top, is_sorted_by_waiters_age_or_name) {
  EXPECT_EQ(names(), (std::vector<std::string>{"busy", "old", "calm"}));
  type("a");
  EXPECT_EQ(names(), (std::vector<std::string>{"old", "calm", "busy"}));
  type("n");
  EXPECT_EQ(names(), (std::vector<std::string>{"busy", "calm", "old"}));
}

TEST_F(top, is_sorted_by_the_longest_wait) {
  std::vector<listing::entry> all{entry("many", 9, 1s), entry("long", 1, 1s), entry("calm", 0, 90s)};
  all[0].now.waiting_since = now - 2s;
  all[1].now.waiting_since = now - 60s;
  model_.set_names(all, now);
  EXPECT_EQ(names().front(), "many");
  type("t");
  EXPECT_EQ(names(), (std::vector<std::string>{"long", "many", "calm"}));
  EXPECT_NE(drawn(80, 24).find("by wait time"), std::string::npos);
  EXPECT_NE(drawn(80, 24).find("b break"), std::string::npos) << "a terminal of the usual size shows every key";
  EXPECT_NE(drawn(100, 20).find("1m"), std::string::npos);
}

TEST_F(top, selection_follows_the_name) {
  type("j");
  EXPECT_EQ(selected(), "old");
  type("n");
  EXPECT_EQ(selected(), "old");
  model_.set_names({entry("calm", 9, 1s), entry("zoo", 0, 1s)},
                   now);  // the name is gone: the position stays within the list
  EXPECT_EQ(model_.selected(), 1U);
  model_.set_names({}, now);
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(type("\rrb").has_value());
}

TEST_F(top, selection_stays_within_the_list) {
  type("\x1b[F");
  EXPECT_EQ(selected(), "calm");
  type("\x1b[B\x1b[6~");
  EXPECT_EQ(selected(), "calm");
  type("\x1b[A");
  EXPECT_EQ(selected(), "old");
  type("\x1b[H\x1b[A");
  EXPECT_EQ(selected(), "busy");
}

TEST_F(top, searches_while_the_user_types) {
  type("/L");
  EXPECT_EQ(names(), (std::vector<std::string>{"old", "calm"}));
  type("d");
  EXPECT_EQ(names(), (std::vector<std::string>{"old"}));  // "Ld" matches "old", and the letter of a command does not
  EXPECT_FALSE(model_.over());
}

TEST_F(top, keeps_the_search_on_enter_and_drops_it_on_escape) {
  type("/cal\r");
  EXPECT_EQ(model_.now(), view::list);
  EXPECT_EQ(names(), std::vector<std::string>{"calm"});
  type("\x1b");
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(top, asks_for_a_reason_and_confirmation_first) {
  EXPECT_FALSE(type("r").has_value());
  EXPECT_FALSE(type("deploy, y").has_value());
  EXPECT_EQ(model_.prompt(), "reason to ask for busy: deploy, y_");
  EXPECT_FALSE(type("\r").has_value());
  EXPECT_EQ(model_.prompt(), "ask who holds busy to let go? y/n");
  EXPECT_FALSE(type("x").has_value());
  const auto wanted = type("y");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->what, top_request::kind::revoke);
  EXPECT_EQ(wanted->name, "busy");
  EXPECT_EQ(wanted->reason, "deploy, y");
}

TEST_F(top, breaks_only_the_displayed_holder) {
  type("bstuck\r");
  model_.set_names({entry("other", 9, 1s)}, now);
  EXPECT_EQ(model_.prompt(), "UNSAFE without fences: take busy by force from web1 4711 job of busy (fence 7)? y/n");
  const auto wanted = type("y");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->name, "busy");
  EXPECT_EQ(wanted->from.fence, 7U);
  EXPECT_EQ(model_.now(), view::list);
}

TEST_F(top, does_nothing_after_a_no) {
  EXPECT_FALSE(type("b\rn").has_value());
  EXPECT_EQ(model_.now(), view::list);
  EXPECT_FALSE(type("b\x1b").has_value());
  EXPECT_EQ(model_.now(), view::list);
  EXPECT_FALSE(type("y").has_value());
}

TEST_F(top, does_not_break_a_lock_with_several_holders) {
  listing::entry e = entry("read", 1, 1s);
  e.now.holders.push_back(e.now.holders.front());
  e.now.holding = 2;
  model_.set_names({e}, now);
  type("b");
  EXPECT_EQ(model_.now(), view::list);
  EXPECT_NE(model_.message().find("holdfast break"), std::string::npos);
}

TEST_F(top, shows_details_and_goes_back) {
  type("\r");
  EXPECT_EQ(model_.details_of(), "busy");
  EXPECT_NE(drawn(80, 24).find("busy: looking"), std::string::npos);
  model_.set_details("calm", {});  // outdated details of another name
  EXPECT_FALSE(model_.details());
  model_.set_details("busy", entry("busy", 5, 1s).now);
  EXPECT_NE(drawn(80, 24).find("held by web1 4711 job of busy"), std::string::npos);
  type("r\x1b");
  EXPECT_EQ(model_.now(), view::details);
  type("\x1b");
  EXPECT_EQ(model_.now(), view::list);
  EXPECT_EQ(model_.details_of(), "");
}

TEST_F(top, fits_the_usual_terminal) {
  const std::string s = drawn(80, 24);
  EXPECT_EQ(s.substr(0, s.find('\n')), "3 names, 5 waiting; by waiters");
  EXPECT_NE(s.find("\n  NAME"), std::string::npos);
  EXPECT_NE(s.find("\n> busy"), std::string::npos);
  EXPECT_NE(s.find("\n  old "), std::string::npos);
  EXPECT_NE(s.find("\nq quit"), std::string::npos);
}

TEST_F(top, fits_the_smallest_terminal) {
  EXPECT_EQ(drawn(20, 5),
            "3 names, 5 waiting;…\n"
            "> busy             5\n"
            "  old              0\n"
            "  calm             0\n"
            "q quit  enter detai…\n");
}

TEST_F(top, draws_what_fits_in_a_tiny_window) {
  for (std::size_t columns = 1; columns < 20; ++columns) {
    for (std::size_t rows = 0; rows < 5; ++rows) {
      for (const char* keys : {"", "/abc", "\r", "bbecause\r", "\x1b"}) {
        type(keys);
        (void)drawn(columns, rows);
      }
    }
  }
}

TEST_F(top, shows_the_page_of_the_selected_name) {
  std::vector<listing::entry> many;
  for (int n = 0; n < 10; ++n) many.push_back(entry("n" + std::to_string(n), 0, 0s));
  model_.set_names(many, now);
  model_.set_page(names_in({20, 5}));
  type("n\x1b[H\x1b[6~\x1b[B");
  EXPECT_EQ(selected(), "n4");
  const std::string s = drawn(20, 5);
  EXPECT_NE(s.find("\n  n3"), std::string::npos);
  EXPECT_NE(s.find("\n> n4"), std::string::npos);
  EXPECT_EQ(s.find("n2"), std::string::npos);
}

TEST_F(top, marks_the_selection_with_and_without_colours) {
  EXPECT_EQ(drawn(80, 24).find('\x1b'), std::string::npos);
  EXPECT_NE(drawn(80, 24, true).find("\x1b[7m> busy"), std::string::npos);
}

TEST_F(top, wraps_questions_in_a_small_terminal) {
  type("bbecause\r");
  EXPECT_NE(drawn(20, 5).find("y/n"), std::string::npos);
}

TEST_F(top, reports_a_silent_store) {
  model_.set_trouble("redis is\ngone");
  EXPECT_EQ(drawn(80, 24).find("no answer: redis is\\ngone"), 0U);
}

TEST_F(top, shows_the_result_of_a_request_until_the_next_key) {
  model_.tell("taken by force: a\x1b[2J");
  EXPECT_NE(drawn(80, 24).find("taken by force: a\\x1b[2J"), std::string::npos);
  type("j");
  EXPECT_EQ(drawn(80, 24).find("taken"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli
