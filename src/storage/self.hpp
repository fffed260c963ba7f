#pragma once
#include <string>

namespace holdfast::storage {

/// "user@host pid N": who does something to others, for whoever asks later who it was. As of this process and its
/// effective user; a user without a name is "uid N".
[[nodiscard]] std::string who_we_are();

}  // namespace holdfast::storage
