#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "holdfast/limit.hpp"
#include "redis/protocol/codec.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/protocol/transport.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

/// Makes a grant count only when replicas or disks have it: WAIT and WAITAOF follow it on the same connection and in
/// the same round trip. Thread-safe.
class replica_wait {
 public:
  explicit replica_wait(const settings& s) : settings_(s), wait_(s.wait) {}

  [[nodiscard]] bool is_wanted() const noexcept { return wait_.is_wanted(); }
  /// Call before a grant. Asks the server how many replicas there are, if that matters, and whether it has WAITAOF;
  /// once, and again after in_doubt(). Returns why waiting is not possible.
  [[nodiscard]] runtime::task<std::optional<storage::failure>> prepare(runtime::io&, transport&, limit);
  void in_doubt() noexcept { ++doubts_; }

  /// The number of replicas that a grant needs now.
  [[nodiscard]] std::int64_t needed() const noexcept;
  /// The command with WAIT and WAITAOF behind it. The replies come as one list.
  [[nodiscard]] command behind(const command& grant, std::int64_t needed) const;
  /// Returns why a grant with these replies does not count, or nothing if it does.
  [[nodiscard]] std::optional<storage::failure> missing(const value& replies, std::int64_t needed) const;

 private:
  [[nodiscard]] storage::failure too_few(std::int64_t have, std::int64_t needed, const char* what) const;
  const settings& settings_;
  const acknowledgement wait_;
  std::atomic<std::uint64_t> doubts_{1}, prepared_for_{0};
  std::atomic<std::int64_t> replicas_{0};  // the most that were connected at one time
};

}  // namespace holdfast::redis
