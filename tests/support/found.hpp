#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "holdfast/finding.hpp"

namespace holdfast::test {

/// The finding with this id, or null.
inline const finding* found(const std::vector<finding>& all, std::string_view id) {
  const auto at = std::ranges::find(all, id, &finding::id);
  return at == all.end() ? nullptr : &*at;
}

/// Returns whether there is a finding with this id and level.
inline bool is(const std::vector<finding>& all, std::string_view id, finding::severity level) {
  const finding* const one = found(all, id);
  return one != nullptr && one->level == level;
}

/// Every finding has a text; those that are not `fine` say what can happen and how to fix it.
inline bool are_whole(const std::vector<finding>& all) {
  return std::ranges::all_of(all, [](const finding& f) {
    const bool is_fine = f.level == finding::severity::fine;
    return !f.id.empty() && !f.what.empty() && f.why.empty() == is_fine && f.cure.empty() == is_fine;
  });
}

}  // namespace holdfast::test
