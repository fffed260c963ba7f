#pragma once
#include <string_view>

#include "core/hold.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"

/// Bad values are refused here, with a clear error, before anything is sent.
namespace holdfast::detail {

inline constexpr std::size_t longest_name = 512;
inline constexpr std::size_t longest_label = 256;

void check_name(std::string_view);                                                    ///< throws lock_error(bad_name)
[[nodiscard]] core::terms check_options(std::string_view name, const lock_options&);  ///< throws lock_error(bad_option)
void check_ttl(std::string_view name, std::chrono::milliseconds);
void check_open_options(const open_options&);

}  // namespace holdfast::detail
