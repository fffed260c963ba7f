#pragma once
#include "redis/protocol/transport.hpp"

namespace holdfast::test {

/// A listener of a connection that ignores all messages.
struct deaf_listener final : redis::listener {
  void pushed(std::string_view) override {}
  void missed(storage::shard) noexcept override {}
  void in_doubt(storage::shard) noexcept override {}
  void back() noexcept override {}
  [[nodiscard]] bool has_claims() const noexcept override { return false; }
  void warned(std::string_view) override {}
};

}  // namespace holdfast::test
