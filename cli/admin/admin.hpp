#pragma once
#include <cstdint>
#include <holdfast/state.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] command_spec describe_revoke(const user_command& after_dashes);
[[nodiscard]] command_spec describe_break(const user_command& after_dashes);

/// Returns the holders with this fence (0: any) and owner (empty: any). The fence may be any of the block whose first
/// the state shows. A holder with unknown fence matches every fence.
[[nodiscard]] std::vector<state::holder> matching_holders(const state&, std::uint64_t fence,
                                                          std::string_view owner = {});
/// "web1 4711 nightly (fence 17), web2 ..."; empty for no holders.
[[nodiscard]] std::string to_text(const std::vector<state::holder>&);
/// Compares owners, and fences where one owner may have several leases.
[[nodiscard]] bool still_holds(const state::holder&, const state& now);

}  // namespace holdfast::cli
