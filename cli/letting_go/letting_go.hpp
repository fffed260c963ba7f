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

/// Those of the holders who are meant by a fence (0: any) and an owner (empty: any). A fence is any of the block whose
/// first the state shows; where the store does not tell the fence, it may be anybody's.
[[nodiscard]] std::vector<state::holder> meant(const state&, std::uint64_t fence, std::string_view owner = {});
/// "web1 4711 nightly (fence 17), web2 ..."; empty: nobody.
[[nodiscard]] std::string list_of(const std::vector<state::holder>&);
/// For as long as they hold it: by owner, and by fence where that tells two leases of one owner apart.
[[nodiscard]] bool is_still_there(const state::holder&, const state& now);

}  // namespace holdfast::cli
