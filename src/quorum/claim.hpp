#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "quorum/attempt.hpp"
#include "quorum/client.hpp"
#include "quorum/server_set.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::quorum {

/// A claim: attempt after attempt, until one of them is elected.
class client::claim final : public storage::claim {
 public:
  claim(client&, storage::claim_spec);
  storage::task<storage::answer<storage::grant>> poll(storage::io&, limit) override;
  /// Whoever is told waits for a moment: the others are about to say the same.
  storage::task<runtime::wake> wakeup(storage::io&, limit) override;
  storage::task<storage::answer<runtime::instant>> renew(storage::io&, storage::milliseconds ttl, limit) override;
  storage::task<storage::answer<storage::done>> release(storage::io&, limit) override;
  [[nodiscard]] std::size_t margin() const noexcept override;
  /// What a majority has lost is still at the others, and has to be taken back there.
  [[nodiscard]] bool has_parts() const noexcept override { return true; }

 private:
  // On the loop.
  /// One attempt.
  storage::task<storage::answer<storage::grant>> run_for_it(limit);
  /// The highest that was named, once a majority will never go below it: if not so many have named it, it is written
  /// back to them.
  storage::task<std::optional<storage::failure>> agree_on_a_fence(std::shared_ptr<attempt>, limit);
  /// If one has a majority, it holds the lock, and somebody tells us when it is free. Else several stand in each
  /// other's way: whoever draws the shorter pause is first the next time.
  storage::answer<storage::grant> busy(attempt&, runtime::instant sent);
  /// A majority has given it, and too few besides.
  [[nodiscard]] storage::failure too_small_a_margin(attempt&) const;
  void give_up();

  const settings& settings_;
  server_set& all_;
  const storage::claim_spec spec_;
  runtime::signal told_;  // it may be free
  std::vector<std::unique_ptr<storage::watching>> watches_;
  std::shared_ptr<attempt> last_;  // of our attempts
  bool elected_ = false;           // by that one
  const std::shared_ptr<bool> leaves_ = std::make_shared<bool>(false);
  round_ptr<storage::done> leaving_;  // what came of its release
  std::uint32_t attempts_ = 0;
  std::uint64_t waits_since_ = 0;
  unsigned splits_ = 0;  // votes in a row without a winner
  runtime::instant again_at_{};
};

}  // namespace holdfast::quorum
