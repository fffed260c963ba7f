#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quorum/server_set.hpp"
#include "runtime/async_mutex.hpp"
#include "storage/voter.hpp"

namespace holdfast::quorum {

/// The votes that are requested under one attempt number. It lives until its last step has ended.
struct attempt : storage::candidate {
  attempt(storage::candidate who, std::size_t voters, std::shared_ptr<const bool> claim_leaves)
      : candidate(std::move(who)),
        mutexes(voters),
        longest_ttl(ttl),
        leaves(std::move(claim_leaves)),
        has_it_(voters) {}
  std::vector<runtime::async_mutex> mutexes;  // one step at a time at each voter, so that none overtakes another
  round_ptr<storage::vote> votes;
  round_ptr<storage::done> withdrawals;  // the votes that were taken back
  std::uint64_t fence = 0;               // the fence of the grant
  bool elected = false;
  runtime::instant ends{};                // the deadline of the grant or of the last renewal
  std::uint64_t renewals = 0;             // renewals that were started
  std::uint64_t renewed = 0;              // the last renewal that a majority confirmed
  std::chrono::milliseconds longest_ttl;  // the longest ttl that was requested
  /// The claim has stopped waiting. All its attempts share this flag, because a late vote puts the claim in line again.
  const std::shared_ptr<const bool> leaves;

  /// Records the last answer of a voter. A voter that does not answer does not count, though it may hold the vote.
  void count(std::size_t who, bool has_it) noexcept;
  /// The number of voters known to hold the vote. May be called from any thread.
  [[nodiscard]] std::size_t holding() const noexcept { return holding_; }

 private:
  std::vector<bool> has_it_;
  std::atomic<std::size_t> holding_{0};
};

/// A voter that takes longer counts as a vote against us. Short compared with the ttl, so that the next attempt starts
/// soon.
[[nodiscard]] runtime::span limit_of_a_vote(std::chrono::milliseconds ttl);

// Steps of an attempt at one voter. They run on the loop only.

storage::task<storage::answer<storage::vote>> ask(server_set&, std::shared_ptr<attempt>, std::size_t who, limit);
/// Writes the fence of the grant back to the voter.
storage::task<storage::answer<storage::done>> raise_fence(server_set&, std::shared_ptr<attempt>, std::size_t who,
                                                          limit);
/// `number` identifies the renewal.
storage::task<storage::answer<storage::done>> renew(server_set&, std::shared_ptr<attempt>, std::size_t who,
                                                    std::chrono::milliseconds ttl, std::uint64_t number, limit);
/// Gives the voter our vote again in the background, while the lease lasts. The more voters hold it, the more of them
/// may lose it.
void repair_soon(server_set&, const std::shared_ptr<attempt>&, std::size_t who);
/// Retries for as long as the vote could last. After that it has expired.
storage::task<storage::answer<storage::done>> withdraw(server_set&, std::shared_ptr<attempt>, std::size_t who);

/// Takes back, in the background, all votes that the attempt has or may still get.
void roll_back(server_set&, const std::shared_ptr<attempt>&);

}  // namespace holdfast::quorum
