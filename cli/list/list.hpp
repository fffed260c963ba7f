#pragma once
#include <functional>
#include <holdfast/listing.hpp>
#include <holdfast/store.hpp>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace holdfast::cli {

[[nodiscard]] command_spec describe_ls(const user_command& after_dashes);
[[nodiscard]] command_spec describe_show(const user_command& after_dashes);

/// Passes all names with this prefix to `see`, page by page, until it returns false. Keeps one page in memory. Throws
/// lock_error.
void for_each_page(const store&, std::string_view prefix,
                   const std::function<bool(const std::vector<listing::entry>&)>& see);

}  // namespace holdfast::cli
