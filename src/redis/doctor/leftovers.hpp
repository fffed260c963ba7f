#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/findings.hpp"

namespace holdfast::redis {

/// Keys that look like ours, and are not as we leave them. Every key of ours has an end.
class leftovers {
 public:
  static constexpr std::int64_t no_end = -1, gone = -2;  ///< as PTTL says it

  explicit leftovers(std::string_view prefix) : prefix_(prefix) {}
  /// What SCAN is to look for; without a prefix the keys of the locks themselves cannot be told from others.
  [[nodiscard]] std::string pattern() const;
  /// The type that a key of ours must have; nothing: it is none.
  [[nodiscard]] std::optional<std::string_view> type_of(std::string_view key) const;
  /// `type` as TYPE says it, `left` as PTTL does.
  void add(const std::string& key, std::string_view type, std::int64_t left);
  [[nodiscard]] std::size_t looked_at() const noexcept { return looked_at_; }
  /// `all`: there are no other keys than those that were looked at.
  void judge(bool all, storage::findings&) const;

 private:
  [[nodiscard]] std::string_view beginning() const { return prefix_.empty() ? std::string_view("holdfast:") : prefix_; }
  [[nodiscard]] bool is_lock(std::string_view key) const;
  const std::string prefix_;
  std::size_t looked_at_ = 0;
  std::vector<std::string> locks_, others_, foreign_;
};

}  // namespace holdfast::redis
