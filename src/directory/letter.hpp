#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "directory/message.hpp"

namespace holdfast::directory {

/// What one process sends to the inbox of another that holds a lock: somebody asks these claims of yours to let go, or
/// has taken what they held.
struct letter {
  static constexpr std::size_t most_owners = 256;
  static constexpr std::size_t longest_reason = 256;

  std::uint64_t fence = 0;  ///< of the lease that is meant; 0: whichever it is
  std::string reason{};
  std::vector<owner_bytes> owners{};
  bool taken = false;

  /// Never as long as a message.
  [[nodiscard]] std::string packed() const;
  /// Nothing: it is none.
  [[nodiscard]] static std::optional<letter> parse(std::string_view);

  struct head {
    std::uint64_t mark;
    std::uint64_t fence;
    std::uint32_t reason;  ///< its bytes, which follow; then the owners
    std::uint32_t owners;
  };
  static constexpr std::size_t longest = sizeof(head) + longest_reason + most_owners * sizeof(owner_bytes);
};
static_assert(sizeof(letter::head) + sizeof(owner_bytes) > sizeof(message));

}  // namespace holdfast::directory
