#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::cli {

/// Standard output, for what comes bit by bit. Whoever reads it may have had enough (head -1): that is no error, and we
/// are told instead of ended.
class output {
 public:
  output() noexcept;  ///< a closed pipe does not end the process from now on
  /// All of it, at once. False: nobody reads any more. Throws std::system_error, such as for a full disk.
  [[nodiscard]] bool write(std::string_view text) const;
  /// For so long, or until nobody reads any more: then false.
  [[nodiscard]] bool pause(std::chrono::milliseconds) const;
  /// Of the terminal that it is; nothing: it is none.
  [[nodiscard]] std::optional<std::size_t> columns() const noexcept;
};

}  // namespace holdfast::cli
