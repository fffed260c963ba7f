#pragma once
#include <optional>
#include <string_view>

#include "planted.hpp"
#include "sim/run.hpp"

namespace holdfast::sim {

struct named_bug {
  std::string_view name;
  bug what;
  std::string_view breaks;  ///< the invariant that must see it; others may see it, too
  store_kind where = store_kind::lease;
};

inline constexpr named_bug bugs[] = {
    {"no_margin", bug::no_margin, "I1"},
    {"unknown_is_no", bug::unknown_is_no, "I10"},
    {"unknown_is_yes", bug::unknown_is_yes, "I1"},
    {"lost_comes_back", bug::lost_comes_back, "I4"},
    {"silent_loss", bug::silent_loss, "I4"},
    {"renewal_after_release", bug::renewal_after_release, "I5"},
    {"loss_keeps_the_room", bug::loss_keeps_the_room, "I7"},
    {"fence_used_twice", bug::fence_used_twice, "I3"},
    {"late_hand_over", bug::late_hand_over, "I4"},
    {"stale_grant", bug::stale_grant, "I4"},
    {"limit_keeps_the_place", bug::limit_keeps_the_place, "I10"},
    {"failure_keeps_the_room", bug::failure_keeps_the_room, "I8"},
    {"new_owner_each_try", bug::new_owner_each_try, "I10"},
    {"late_keeper", bug::late_keeper, "I4"},
    {"no_back_off", bug::no_back_off, "I9"},
    {"unfenced_reads", bug::unfenced_reads, "I2"},
    {"deaf_in_line", bug::deaf_in_line, "I7"},
    {"late_reply_to_another", bug::late_reply_to_another, "I12", store_kind::redis},
};

/// Nothing: there is no bug of that name.
[[nodiscard]] constexpr std::optional<bug> bug_called(std::string_view name) noexcept {
  for (const named_bug& b : bugs) {
    if (b.name == name) return b.what;
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
