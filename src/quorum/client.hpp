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

/// A store made of several that know nothing of one another (Redlock): whoever has the votes of a majority, within the
/// time that they are good for, holds the lock. A voter that is dead, slow, refusing or erring is a vote against.
///
/// All votes are asked for at once, on the loop; a blocking caller hands the whole call over, and waits for one signal.
/// Nobody queues: N queues would elect N winners. So it is not fair.
class client final : public storage::backend {
 public:
  struct settings {
    std::chrono::milliseconds max_ttl;     ///< no lease is longer: voters that restarted vote again after that time
    std::size_t min_margin = 0;            ///< a grant by less than a majority and so many more is none
    std::function<std::uint64_t()> clock;  ///< of this machine, in microseconds since 1970; any thread
    std::vector<finding> known{};          ///< about how it is set up: part of every examination
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
