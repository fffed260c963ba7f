#include <chrono>
#include <memory>
#include <string>

#include "exit_code.hpp"
#include "looking/looking.hpp"
#include "options/name_argument.hpp"
#include "options/store_option.hpp"
#include "process/output.hpp"
#include "text/description.hpp"
#include "text/printable.hpp"
#include "text/state_json.hpp"

namespace holdfast::cli {

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

command_spec describe_show(const user_command& after_dashes) {
  const auto wanted = std::make_shared<show_command>();
  return {.name = "show",
          .group = "look",
          .description = "Who holds a name, who waits for it, and what was done about it",
          .examples = {{"holdfast show db", "who holds it, who waits"}, {"holdfast show --json db", "for scripts"}},
          .options = {wanted->name.row("NAME", "which one"),
                      wanted->store.row(),
                      {.names = "--json", .help = "one JSON object", .into = &wanted->json}},
          .footer = "Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.",
          .act = [wanted, &after_dashes] {
            return wanted->name.complete("show", after_dashes, true) ? show(*wanted) : static_cast<int>(usage);
          }};
}

}  // namespace holdfast::cli
