#include "list/list.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "exit_code.hpp"
#include "options/values.hpp"
#include "process/io.hpp"
#include "text/state.hpp"
#include "text/table.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

void for_each_page(const store& s, std::string_view prefix,
                   const std::function<bool(const std::vector<listing::entry>&)>& see) {
  std::string after;
  do {
    listing page = s.list(prefix, after);
    for (listing::entry& each : page.names) {
      // The listing shows only a few holders, and mode_of() needs the permits of all.
      if (each.now.permits != 0 && each.now.holders.size() < each.now.holding) each.now = s.inspect(each.name);
    }
    if (!see(page.names)) return;
    after = std::move(page.next);
  } while (!after.empty());
}

namespace {

struct ls_options {
  store_option store{};
  name_argument prefix{};
  bool json = false;
};

int ls(const ls_options& o) {
  const output out;
  const auto width = out.columns();
  const table rows = lock_table(width);
  const store s = o.store.open();
  bool read = o.json || !width || out.write(style(stdout).bold(rows.header()) + "\n");
  if (!read) return fine;
  for_each_page(s, o.prefix.text(), [&](const std::vector<listing::entry>& page) {
    const auto now = std::chrono::system_clock::now();
    std::string text;
    for (const listing::entry& each : page) {
      text += o.json ? to_line(to_json(each.name, each.now)) : rows.row(lock_cells(each.name, each.now, now)) + "\n";
    }
    return read = out.write(text);
  });
  return fine;
}

}  // namespace

command_spec describe_ls(const user_command&) {
  const auto wanted = std::make_shared<ls_options>();
  return {
      .name = "ls",
      .group = "look",
      .description = "List what is held or waited for, one line per name",
      .examples = {{"holdfast ls", "all that is held or waited for"},
                   {"holdfast ls jobs/", "names with this prefix"},
                   {"holdfast ls --json | jq .name", "for scripts"}},
      .options = joined(
          {wanted->prefix.prefix_rows(),
           {wanted->store.row(),
            {.names = "--json", .help = "one JSON object per line, with all that is known", .into = &wanted->json}}}),
      .footer =
          "Exit codes: 0, also when there is nothing; 64 usage, 69 store unreachable, 77 not allowed, 78 "
          "configuration.",
      .act = [wanted] { return ls(*wanted); }};
}

namespace {

struct show_command {
  store_option store{};
  name_argument name{};
  bool json = false;
};

int show(const show_command& o) {
  const output out;
  const store s = o.store.open();
  const state now = s.inspect(o.name.text());
  std::string text;
  if (o.json) {
    json_value all = to_json(o.name.text(), now);
    all["store"] = s.url();
    all["promises"] = to_json(s.promises());
    text = to_line(all);
  } else {
    for (const std::string& line : describe(o.name.text(), now, std::chrono::system_clock::now())) text += line + "\n";
    text += "  in " + printable(s.url()) + ": " + describe(s.promises()) + "\n";
  }
  (void)out.write(text);
  return fine;
}

}  // namespace

command_spec describe_show(const user_command&) {
  const auto wanted = std::make_shared<show_command>();
  return {
      .name = "show",
      .group = "look",
      .description = "Show who holds a lock, who waits for it, and recent requests",
      .examples = {{"holdfast show db", "who holds it, who waits"}, {"holdfast show --json db", "for scripts"}},
      .options = joined({wanted->name.name_rows("the lock"),
                         {wanted->store.row(), {.names = "--json", .help = "one JSON object", .into = &wanted->json}}}),
      .footer = "Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.",
      .act = [wanted] { return show(*wanted); }};
}

}  // namespace holdfast::cli
