#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/server_info.hpp"

namespace holdfast::redis {

/// Finds keys under our prefix that are not as Holdfast leaves them: of another type, or without a ttl.
class stray_keys {
 public:
  static constexpr std::int64_t no_end = -1, gone = -2;  ///< replies to PTTL

  explicit stray_keys(std::string_view prefix) : prefix_(prefix) {}
  /// The pattern for SCAN. Without a prefix it does not match the keys of the locks themselves, which have any name.
  [[nodiscard]] std::string pattern() const;
  /// Returns the type that a key of ours must have, or nothing if the key is not ours.
  [[nodiscard]] std::optional<std::string_view> type_of(std::string_view key) const;
  /// `type` is the reply to TYPE, `left` that to PTTL.
  void add(const std::string& key, std::string_view type, std::int64_t left);
  [[nodiscard]] std::size_t looked_at() const noexcept { return looked_at_; }
  /// `all` says that every key has been added.
  [[nodiscard]] server_info facts(bool all) const;

 private:
  [[nodiscard]] std::string_view beginning() const { return prefix_.empty() ? std::string_view("holdfast:") : prefix_; }
  [[nodiscard]] bool is_lock(std::string_view key) const;
  const std::string prefix_;
  std::size_t looked_at_ = 0;
  std::vector<std::string> locks_, others_, foreign_;
};

}  // namespace holdfast::redis
