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

/// Votes that were asked for under one number. It lives as long as anybody has something to do for it.
struct attempt : storage::candidate {
  attempt(storage::candidate who, std::size_t voters, std::shared_ptr<const bool> claim_leaves)
      : candidate(std::move(who)),
        mutexes(voters),
        longest_ttl(ttl),
        leaves(std::move(claim_leaves)),
        has_it_(voters) {}
  std::vector<runtime::async_mutex> mutexes;  // one step at a time at each voter, so that none overtakes another
  round_ptr<storage::vote> votes;
  round_ptr<storage::done> withdrawals;  // where it was given back
  std::uint64_t fence = 0;               // of its grant
  bool elected = false;
  runtime::instant ends{};                // what was granted, or renewed the last time
  std::uint64_t renewals = 0;             // that were begun
  std::uint64_t renewed = 0;              // the last of them that a majority did
  std::chrono::milliseconds longest_ttl;  // that was ever asked for
  /// The claim waits no longer. All its attempts know it: a vote that is carried out late has put it in line again.
  const std::shared_ptr<const bool> leaves;

  /// What a voter has said last. One that gives no answer does not count, though it may have it.
  void count(std::size_t who, bool has_it) noexcept;
  /// How many have it, as far as is known. Any thread.
  [[nodiscard]] std::size_t holding() const noexcept { return holding_; }

 private:
  std::vector<bool> has_it_;
  std::atomic<std::size_t> holding_{0};
};

/// A voter that takes longer has voted against us. Small against the ttl, so that the next attempt comes soon.
[[nodiscard]] runtime::span limit_of_a_vote(std::chrono::milliseconds ttl);

// Steps of an attempt at one voter. On the loop only.

storage::task<storage::answer<storage::vote>> ask(server_set&, std::shared_ptr<attempt>, std::size_t who, limit);
/// Writes back the fence of its grant.
storage::task<storage::answer<storage::done>> raise_fence(server_set&, std::shared_ptr<attempt>, std::size_t who,
                                                          limit);
/// `number`: which of its renewals it is.
storage::task<storage::answer<storage::done>> renew(server_set&, std::shared_ptr<attempt>, std::size_t who,
                                                    std::chrono::milliseconds ttl, std::uint64_t number, limit);
/// The more have it, the more of them may lose it. For as long as it is ours. Nobody waits for it.
void repair_soon(server_set&, const std::shared_ptr<attempt>&, std::size_t who);
/// Insists, for as long as the vote could last. Then it is over by itself.
storage::task<storage::answer<storage::done>> withdraw(server_set&, std::shared_ptr<attempt>, std::size_t who);

/// Takes back all votes that the attempt has, or may get yet; nobody waits for it.
void roll_back(server_set&, const std::shared_ptr<attempt>&);

}  // namespace holdfast::quorum
