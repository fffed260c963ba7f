#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/holding.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"
#include "storage/owner.hpp"

/// Bad values are refused here, with a clear error, before anything is sent.
namespace holdfast::detail {

inline constexpr std::size_t longest_name = 512;
inline constexpr std::size_t longest_label = 256;
inline constexpr std::size_t longest_reason = 256;

void check_name(std::string_view);                                                    ///< throws lock_error(bad_name)
[[nodiscard]] core::terms check_options(std::string_view name, const lock_options&);  ///< throws lock_error(bad_option)
/// The same for a mutex of whatever kind, or a semaphore: what it wants depends on what is called.
[[nodiscard]] core::terms check_options_of_object(std::string_view name, const lock_options&);
void check_fair(std::string_view name, const lock_options&);        ///< where readers or permits are
void check_reason(std::string_view name, std::string_view reason);  ///< throws lock_error(bad_option)
void check_prefix(std::string_view);                                ///< of names; throws lock_error(bad_name)
/// Whose lock is to be broken; nothing: whoever has the fence. Throws lock_error(bad_option).
[[nodiscard]] std::optional<storage::owner_id> check_owner(std::string_view name, std::uint64_t fence,
                                                           std::string_view owner);
void check_ttl(std::string_view name, std::chrono::milliseconds);
void check_open_options(const open_options&);

}  // namespace holdfast::detail
