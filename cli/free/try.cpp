#include <algorithm>
#include <cstdio>

#include "exit_code.hpp"
#include "free/free.hpp"
#include "text/state_json.hpp"

namespace holdfast::cli {

int try_now(const free_options& o) {
  const std::vector<sight> seen = look(o.wanted.store.open({}, o.wanted.quiet), o.wanted, for_one_look());
  for (const sight& each : seen) {
    if (o.json) {
      json_value line = to_json(each.name, each.is);
      line["free"] = each.free;
      std::fputs(to_line(line).c_str(), stdout);
    } else if (o.wanted.verbose && !each.free) {
      std::fprintf(stderr, "holdfast: busy: %s\n", in_words(each).c_str());
    }
  }
  return std::ranges::all_of(seen, &sight::free) ? fine : busy;
}

}  // namespace holdfast::cli
