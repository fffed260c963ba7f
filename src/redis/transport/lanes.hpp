#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "redis/transport/lane.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Connections for callers that block: opened only when callers block at the same time, closed when idle.
class lanes {
 public:
  lanes(const dialer& d, runtime::loop& loop, std::function<void()> in_doubt)
      : dialer_(d), loop_(loop), in_doubt_(std::move(in_doubt)) {}

  [[nodiscard]] reply call(const command&, const limit&, std::optional<abandoned_command>* = nullptr);
  /// The same, over a connection that is open. Empty: there is none.
  [[nodiscard]] std::optional<reply> call_if_open(const command&, const limit&, std::optional<abandoned_command>*);
  void follow(const abandoned_command&, const command&) noexcept;
  [[nodiscard]] bool any_open() const noexcept;
  /// Closes those that were idle since then, but for one that is open if `keep_one`. Returns false if all are closed.
  bool close_idle_since(runtime::instant, bool keep_one = false) noexcept;
  void distrust(const storage::failure& why) noexcept;

 private:
  struct chosen {
    lane* is;
    std::size_t number;
  };
  [[nodiscard]] chosen choose();
  [[nodiscard]] chosen choose_open() const;  ///< null: none is open
  [[nodiscard]] static reply call_by(chosen, const command&, const limit&, std::optional<abandoned_command>*);
  const dialer& dialer_;
  runtime::loop& loop_;
  const std::function<void()> in_doubt_;
  runtime::guarded<std::vector<std::unique_ptr<lane>>> all_;
};

}  // namespace holdfast::redis
