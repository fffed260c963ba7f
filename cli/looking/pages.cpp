#include "looking/pages.hpp"

#include <utility>

namespace holdfast::cli {

void for_each_page(const store& s, std::string_view prefix,
                   const std::function<bool(const std::vector<listing::entry>&)>& see) {
  std::string after;
  do {
    listing page = s.list(prefix, after);
    for (listing::entry& each : page.names) {
      // Of a few holders only is told how many permits they have, and the mode needs the sum.
      if (each.now.permits != 0 && each.now.holders.size() < each.now.holding) each.now = s.inspect(each.name);
    }
    if (!see(page.names)) return;
    after = std::move(page.next);
  } while (!after.empty());
}

}  // namespace holdfast::cli
