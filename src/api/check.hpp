#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/holding.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"
#include "storage/owner.hpp"

/// Arguments are checked here, before anything is sent.
namespace holdfast::detail {

inline constexpr std::size_t longest_name = 512;
inline constexpr std::size_t longest_label = 256;
inline constexpr std::size_t longest_reason = 256;

void check_name(std::string_view);                                                    ///< throws lock_error(bad_name)
[[nodiscard]] core::terms check_options(std::string_view name, const lock_options&);  ///< throws lock_error(bad_option)
/// Like check_options(), for a mutex or a semaphore. `shared` is an error there: each function says what it acquires.
[[nodiscard]] core::terms check_options_of_object(std::string_view name, const lock_options&);
void check_fair(std::string_view name, const lock_options&);        ///< throws lock_error(bad_option)
void check_reason(std::string_view name, std::string_view reason);  ///< throws lock_error(bad_option)
void check_prefix(std::string_view);                                ///< throws lock_error(bad_name)
/// The owner whose lock is to be broken; empty if only the fence was given. Throws lock_error(bad_option).
[[nodiscard]] std::optional<storage::owner_id> check_owner(std::string_view name, std::uint64_t fence,
                                                           std::string_view owner);
void check_ttl(std::string_view name, std::chrono::milliseconds);
void check_open_options(const open_options&);

}  // namespace holdfast::detail
