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

/// A claim runs one attempt after the other until one of them is elected.
class client::claim final : public storage::claim {
 public:
  claim(client&, storage::claim_spec);
  storage::task<storage::answer<storage::grant>> poll(storage::io&, limit) override;
  /// Waits for a moment after the first notification, because the other servers are about to send theirs.
  storage::task<runtime::wake> wakeup(storage::io&, limit) override;
  storage::task<storage::answer<runtime::instant>> renew(storage::io&, storage::milliseconds ttl, limit) override;
  storage::task<storage::answer<storage::done>> release(storage::io&, limit) override;
  [[nodiscard]] std::size_t margin() const noexcept override;
  /// A lease that a majority has lost is still at the other servers, and must be released there.
  [[nodiscard]] bool has_parts() const noexcept override { return true; }

 private:
  // These run on the loop.

  /// Runs one attempt.
  storage::task<storage::answer<storage::grant>> run_for_it(limit);
  /// Chooses the highest fence that was named. If fewer than a majority named it, it is written back to the servers, so
  /// that a majority never goes below it.
  storage::task<std::optional<storage::failure>> agree_on_a_fence(std::shared_ptr<attempt>, limit);
  /// If another client has a majority, it holds the lock, and a server notifies us when it is free. Otherwise the vote
  /// was split, and the client that draws the shortest pause is first the next time.
  storage::answer<storage::grant> busy(attempt&, runtime::instant sent);
  /// The error if a majority voted for us, but fewer than min_margin demands.
  [[nodiscard]] storage::failure too_small_a_margin(attempt&) const;
  void give_up();

  const settings& settings_;
  server_set& all_;
  const storage::claim_spec spec_;
  runtime::signal may_be_free_;  // set by a server that notifies us
  std::vector<std::unique_ptr<storage::watching>> watches_;
  std::shared_ptr<attempt> last_;  // our last attempt
  bool elected_ = false;           // last_ was elected
  const std::shared_ptr<bool> leaves_ = std::make_shared<bool>(false);
  round_ptr<storage::done> leaving_;  // the votes that release() takes back
  std::uint32_t attempts_ = 0;
  std::uint64_t waits_since_ = 0;
  unsigned splits_ = 0;  // votes in a row without a winner
  runtime::instant again_at_{};
};

}  // namespace holdfast::quorum
