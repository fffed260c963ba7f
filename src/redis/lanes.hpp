#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "redis/lane.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Connections for callers that block: opened only when callers block at the same time, closed when idle.
class lanes {
 public:
  lanes(const dialer& d, runtime::loop& loop, std::function<void()> in_doubt)
      : dialer_(d), loop_(loop), in_doubt_(std::move(in_doubt)) {}

  [[nodiscard]] reply call(const command&, const limit&, std::optional<left_behind>&);
  void follow(const left_behind&, const command&) noexcept;
  /// False: all are closed.
  bool close_idle_since(runtime::instant) noexcept;
  void distrust(const seam::failure& why) noexcept;

 private:
  [[nodiscard]] std::pair<lane&, std::size_t> choose();
  const dialer& dialer_;
  runtime::loop& loop_;
  const std::function<void()> in_doubt_;
  runtime::guarded<std::vector<std::unique_ptr<lane>>> all_;
};

}  // namespace holdfast::redis
