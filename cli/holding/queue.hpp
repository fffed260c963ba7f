#pragma once
#include <cstddef>
#include <holdfast/store.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// How many wait for that name before this process, which waits under that label; nothing: the store does not know, or
/// gives no answer.
[[nodiscard]] std::optional<std::size_t> waiting_before_us(const store&, std::string_view name,
                                                           const std::string& label);

}  // namespace holdfast::cli
