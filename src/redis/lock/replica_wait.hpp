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

/// Lets a grant count only when replicas have it, or disks: WAIT and WAITAOF go behind it, on the same connection and
/// in the same round trip. From any thread.
class replica_wait {
 public:
  explicit replica_wait(const settings& s) : settings_(s), wait_(s.wait) {}

  [[nodiscard]] bool is_wanted() const noexcept { return wait_.is_wanted(); }
  /// Before a grant: how many replicas there are, where that matters, and whether the server can do it. It asks once,
  /// and again after in_doubt(). A failure: it cannot be waited for.
  [[nodiscard]] runtime::task<std::optional<storage::failure>> prepare(runtime::io&, transport&, limit);
  void in_doubt() noexcept { ++doubts_; }

  /// How many replicas a grant needs now.
  [[nodiscard]] std::int64_t needed() const noexcept;
  /// The grant, and behind it what is waited for: the replies come as one list.
  [[nodiscard]] command behind(const command& grant, std::int64_t needed) const;
  /// Why a grant with such replies does not count; nothing: it does.
  [[nodiscard]] std::optional<storage::failure> missing(const value& replies, std::int64_t needed) const;

 private:
  [[nodiscard]] storage::failure too_few(std::int64_t have, std::int64_t needed, const char* what) const;
  const settings& settings_;
  const acknowledgement wait_;
  std::atomic<std::uint64_t> doubts_{1}, prepared_for_{0};
  std::atomic<std::int64_t> replicas_{0};  // the most that were there at one time
};

}  // namespace holdfast::redis
