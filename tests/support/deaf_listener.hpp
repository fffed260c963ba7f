#pragma once
#include "redis/protocol/transport.hpp"

namespace holdfast::test {

/// A client of a connection that takes no notice of what it is told.
struct deaf_listener final : redis::listener {
  void pushed(std::string_view) override {}
  void missed(storage::shard) noexcept override {}
  void in_doubt(storage::shard) noexcept override {}
  void back() noexcept override {}
  [[nodiscard]] bool has_claims() const noexcept override { return false; }
  void warned(std::string_view) override {}
};

}  // namespace holdfast::test
