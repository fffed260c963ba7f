#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "quorum/admin.hpp"
#include "quorum/server_set.hpp"
#include "runtime/io.hpp"
#include "storage/claim.hpp"
#include "storage/voter.hpp"

namespace holdfast::quorum {

/// A store made of several servers that do not know each other (Redlock). A client that has the votes of a majority,
/// before they expire, holds the lock. A server that is down, slow, refuses or fails counts as a vote against.
///
/// All votes are requested at once, on the loop. A blocking caller hands the whole call over and waits for one signal.
/// There is no queue, because N queues would elect N winners, so the store is not fair.
class client final : public storage::backend {
 public:
  struct settings {
    std::chrono::milliseconds max_ttl;     ///< the longest lease: servers that restarted vote again after this time
    std::size_t min_margin = 0;            ///< votes beyond a majority that a grant needs
    std::function<std::uint64_t()> clock;  ///< microseconds since 1970; called from any thread
    std::vector<finding> known{};          ///< about the setup of the store: part of every health check
  };
  client(std::vector<std::unique_ptr<storage::voter>>, settings, runtime::io& loop);

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return admin_; }
  void start(storage::backend_events&) override;
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  class claim;

  const settings settings_;
  server_set all_;
  quorum::admin admin_{all_, settings_.known};
};

}  // namespace holdfast::quorum
