#pragma once
#include <optional>
#include <string_view>

#include "planted.hpp"

namespace holdfast::sim {

struct named_bug {
  std::string_view name;
  bug what;
};

inline constexpr named_bug bugs[] = {
    {"no_margin", bug::no_margin},
    {"unknown_is_no", bug::unknown_is_no},
    {"unknown_is_yes", bug::unknown_is_yes},
    {"lost_comes_back", bug::lost_comes_back},
    {"silent_loss", bug::silent_loss},
    {"renewal_after_release", bug::renewal_after_release},
    {"loss_keeps_the_room", bug::loss_keeps_the_room},
    {"fence_used_twice", bug::fence_used_twice},
    {"late_hand_over", bug::late_hand_over},
    {"stale_grant", bug::stale_grant},
    {"limit_keeps_the_place", bug::limit_keeps_the_place},
    {"failure_keeps_the_room", bug::failure_keeps_the_room},
    {"new_owner_each_try", bug::new_owner_each_try},
    {"late_keeper", bug::late_keeper},
    {"no_back_off", bug::no_back_off},
};

/// Nothing: there is no bug of that name.
[[nodiscard]] constexpr std::optional<bug> bug_called(std::string_view name) noexcept {
  for (const named_bug& b : bugs) {
    if (b.name == name) return b.what;
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
