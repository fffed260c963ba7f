#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "redis/transport/pooled_connection.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Connections for blocking callers. Another one is opened only when callers block at the same time; idle ones are
/// closed.
class connection_pool {
 public:
  connection_pool(const dialer& d, runtime::loop& loop, std::function<void()> in_doubt)
      : dialer_(d), loop_(loop), in_doubt_(std::move(in_doubt)) {}

  [[nodiscard]] reply call(const command&, const limit&, std::optional<abandoned_command>* = nullptr);
  /// Calls over a connection that is open. Empty if none is.
  [[nodiscard]] std::optional<reply> call_if_open(const command&, const limit&, std::optional<abandoned_command>*);
  void follow(const abandoned_command&, const command&) noexcept;
  [[nodiscard]] bool any_open() const noexcept;
  /// Closes those that were idle since then, except one that is open if `keep_one`. Returns false if all are closed.
  bool close_idle_since(runtime::instant, bool keep_one = false) noexcept;
  /// As pooled_connection::invalidate(), for all of them.
  void invalidate(const storage::failure& why) noexcept;

 private:
  struct chosen {
    pooled_connection* is;
    std::size_t index;
  };
  [[nodiscard]] chosen choose();
  [[nodiscard]] chosen choose_open() const;  ///< null if none is open
  [[nodiscard]] static reply call_by(chosen, const command&, const limit&, std::optional<abandoned_command>*);
  const dialer& dialer_;
  runtime::loop& loop_;
  const std::function<void()> in_doubt_;
  runtime::guarded<std::vector<std::unique_ptr<pooled_connection>>> all_;
};

}  // namespace holdfast::redis
