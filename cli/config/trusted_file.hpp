#pragma once
#include <optional>
#include <string>

namespace holdfast::cli {

struct trusted_text {
  std::string text{};
  bool others_may_read = false;
};

/// Reads a file that only we or root may change: whoever can change it chooses where our locks are. Nothing: there is
/// no such file. Throws config_error if others may write to it, or if it cannot be read: to go on without it could be
/// to lock somewhere else than all others do.
[[nodiscard]] std::optional<trusted_text> read_trusted(const std::string& path);

}  // namespace holdfast::cli
