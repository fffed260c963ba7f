#include "letting_go/meant.hpp"

#include <algorithm>

#include "text/state_text.hpp"

namespace holdfast::cli {

namespace {

constexpr std::uint64_t fences_in_a_block = 64;  // state::holder::fence: the lease's own may be higher by up to 63

bool covers(const state::holder& h, std::uint64_t fence) noexcept {
  return fence == 0 || h.fence == 0 || (fence >= h.fence && fence - h.fence < fences_in_a_block);
}

}  // namespace

std::vector<state::holder> meant(const state& s, std::uint64_t fence, std::string_view owner) {
  std::vector<state::holder> those;
  std::copy_if(s.holders.begin(), s.holders.end(), std::back_inserter(those),
               [&](const state::holder& h) { return covers(h, fence) && (owner.empty() || h.owner == owner); });
  return those;
}

std::string list_of(const std::vector<state::holder>& those) {
  std::string all;
  for (const state::holder& each : those) {
    if (!all.empty()) all += ", ";
    all += each.foreign ? "another library" : who(each);
    if (each.fence != 0) all += " (fence " + std::to_string(each.fence) + ")";
  }
  return all;
}

bool is_still_there(const state::holder& h, const state& now) {
  return std::any_of(now.holders.begin(), now.holders.end(), [&](const state::holder& other) {
    return other.owner == h.owner && (h.permits != 0 || other.fence == h.fence);
  });
}

}  // namespace holdfast::cli
