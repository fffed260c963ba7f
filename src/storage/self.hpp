#pragma once
#include <string>

namespace holdfast::storage {

/// Returns "user@host pid N" for this process and its effective user, for notes on what operators did. A user without a
/// name is "uid N".
[[nodiscard]] std::string who_we_are();

}  // namespace holdfast::storage
