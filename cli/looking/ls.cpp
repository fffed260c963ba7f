#include <chrono>
#include <memory>
#include <string>

#include "exit_code.hpp"
#include "looking/looking.hpp"
#include "looking/pages.hpp"
#include "options/name_argument.hpp"
#include "options/store_option.hpp"
#include "process/output.hpp"
#include "text/state_json.hpp"
#include "text/state_text.hpp"
#include "text/style.hpp"

namespace holdfast::cli {

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

command_spec describe_ls(const user_command& after_dashes) {
  const auto wanted = std::make_shared<ls_options>();
  return {
      .name = "ls",
      .group = "look",
      .description = "What is held or waited for, one line a name",
      .examples = {{"holdfast ls", "all that is held or waited for"},
                   {"holdfast ls jobs/", "names that begin so"},
                   {"holdfast ls --json | jq .name", "for scripts"}},
      .options = {wanted->prefix.row("PREFIX", "only names that begin so"),
                  wanted->store.row(),
                  {.names = "--json", .help = "one JSON object a line, with all that is known", .into = &wanted->json}},
      .footer =
          "Exit codes: 0, also when there is nothing; 64 usage, 69 store unreachable, 77 not allowed, 78 "
          "configuration.",
      .act = [wanted, &after_dashes] {
        return wanted->prefix.complete("ls", after_dashes, false) ? ls(*wanted) : static_cast<int>(usage);
      }};
}

}  // namespace holdfast::cli
