#include "core/revoke_requests.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

/// At most this many early requests are kept. The oldest are dropped: their holding may never come.
constexpr std::size_t max_early = 64;

/// Returns true if the fence of the request, if any, is that of the holding. One of several names has a fence of its
/// own, which is not that of the lease: it is compared here and removed.
bool is_for(const holding& h, storage::revoke_request& what) {
  if (what.owner == h.owner) return true;
  const bool same = what.fence == 0 || what.fence == h.claim->fence_of(what.owner);
  what.fence = 0;
  return same;
}

}  // namespace

// Requests are rare, so there is no index of holdings by owner.
revoke_requests::matches revoke_requests::take(const due_heap& holdings) {
  matches found;
  if (new_.empty()) return found;
  found.reserve(new_.size());  // throws before anything is removed
  std::vector<storage::revoke_request> all = std::exchange(new_, {});
  const auto by_owner = [](const storage::revoke_request& one, const storage::revoke_request& other) {
    return one.owner < other.owner;
  };
  std::sort(all.begin(), all.end(), by_owner);
  holdings.for_each([&](const std::shared_ptr<holding>& h) {
    const auto [first, last] =
        std::equal_range(all.begin(), all.end(), storage::revoke_request{.owner = h->owner}, by_owner);
    for (auto each = first; each != last; ++each) found.emplace_back(h, std::move(*each));
    all.erase(first, last);
  });
  holdings.for_each([&](const std::shared_ptr<holding>& h) {  // one of several names that are held as one
    std::erase_if(all, [&](storage::revoke_request& each) {
      const bool ours = h->claim->fence_of(each.owner) != 0;
      if (ours && is_for(*h, each)) found.emplace_back(h, std::move(each));
      return ours;
    });
  });
  for (storage::revoke_request& unknown : all) early_.push_back(std::move(unknown));
  while (early_.size() > max_early) early_.pop_front();
  return found;
}

std::optional<storage::revoke_request> revoke_requests::take_early(const holding& h) {
  for (;;) {
    const auto at = std::find_if(early_.begin(), early_.end(), [&](const auto& each) {
      return each.owner == h.owner || h.claim->fence_of(each.owner) != 0;
    });
    if (at == early_.end()) return std::nullopt;
    storage::revoke_request what = std::move(*at);
    early_.erase(at);
    if (is_for(h, what)) return what;
  }
}

}  // namespace holdfast::core
