#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "holdfast/limit.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"

namespace holdfast::quorum {

/// More than half of the voters: two majorities always share a voter.
[[nodiscard]] std::size_t majority_of(std::size_t voters) noexcept;

/// Counts the answers of the voters.
struct tally {
  std::size_t voters = 0;
  std::size_t yes = 0;
  std::size_t no = 0;
  std::size_t none = 0;  ///< no answer, or the voter does not vote
  /// Votes beyond a majority that an election needs.
  std::size_t min_margin = 0;

  [[nodiscard]] std::size_t open() const noexcept { return voters - yes - no - none; }
  [[nodiscard]] std::size_t majority() const noexcept { return majority_of(voters); }
};

enum class verdict { open, yes, no, unknown };

/// The result of an election, as early as possible. yes: a majority and the margin voted for us. no: that is impossible
/// by now, and as many have answered, perhaps for several candidates, or a majority is against us. unknown: not even
/// that many answer.
[[nodiscard]] verdict of_election(const tally&) noexcept;
/// The result of a step of a holder, such as a renewal. no: too many say no for a majority to say yes.
[[nodiscard]] verdict of_step(const tally&) noexcept;
/// Open until every voter has answered. For questions without a majority rule.
[[nodiscard]] verdict all_of_them(const tally&) noexcept;

/// One request to all voters at once, and their answers. Used on the loop only.
template <class T>
class vote_round {
 public:
  explicit vote_round(std::size_t voters, std::size_t min_margin = 0) : replies_(voters) {
    count_.voters = voters;
    count_.min_margin = min_margin;
  }

  /// Records the answer of a voter. A yes that is not `for_us` counts as a no.
  void put(std::size_t who, storage::answer<T> got, bool for_us = true) {
    std::size_t& where = got.is_unknown() ? count_.none : got.is_yes() && for_us ? count_.yes : count_.no;
    ++where;
    replies_[who] = std::move(got);
    changed_.set();
  }
  [[nodiscard]] const tally& count() const noexcept { return count_; }
  /// The answer of each voter; nothing if it has not answered yet.
  [[nodiscard]] std::vector<std::optional<storage::answer<T>>>& replies() noexcept { return replies_; }

  /// Waits until the rule has a verdict. Returns open if the limit comes first.
  [[nodiscard]] runtime::task<verdict> settle(runtime::io& loop, verdict (*rule)(const tally&), limit l) {
    for (;;) {
      const verdict so_far = rule(count_);
      if (so_far != verdict::open) co_return so_far;
      const runtime::wake why = co_await wait(loop, changed_, l);
      if (why != runtime::wake::signalled) co_return rule(count_);
    }
  }

 private:
  tally count_;
  std::vector<std::optional<storage::answer<T>>> replies_;
  runtime::signal changed_;
};

}  // namespace holdfast::quorum
