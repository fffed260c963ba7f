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

/// More than half: two of them always have a voter in common.
[[nodiscard]] std::size_t majority_of(std::size_t voters) noexcept;

/// How many of some voters have said what.
struct tally {
  std::size_t voters = 0;
  std::size_t yes = 0;
  std::size_t no = 0;
  std::size_t none = 0;  ///< nobody knows, or it does not vote
  /// By how many more than a majority an election has to be won.
  std::size_t min_margin = 0;

  [[nodiscard]] std::size_t open() const noexcept { return voters - yes - no - none; }
  [[nodiscard]] std::size_t majority() const noexcept { return majority_of(voters); }
};

enum class verdict { open, yes, no, unknown };

/// Of an election, as early as it can be told. yes: a majority says so, with its margin. no: that cannot be had any
/// more, and so many have answered, though perhaps for several, or a majority is against us. unknown: so many cannot
/// even be heard.
[[nodiscard]] verdict of_election(const tally&) noexcept;
/// Of a step that changes what a holder has. no: so many say no that no majority can have said yes.
[[nodiscard]] verdict of_step(const tally&) noexcept;
/// For questions that are answered when everybody has, or has had its time.
[[nodiscard]] verdict all_of_them(const tally&) noexcept;

/// One question to all voters at once. On the loop only.
template <class T>
class vote_round {
 public:
  explicit vote_round(std::size_t voters, std::size_t min_margin = 0) : replies_(voters) {
    count_.voters = voters;
    count_.min_margin = min_margin;
  }

  /// A yes of which `for_us` is false counts as a no.
  void put(std::size_t who, storage::answer<T> got, bool for_us = true) {
    std::size_t& where = got.is_unknown() ? count_.none : got.is_yes() && for_us ? count_.yes : count_.no;
    ++where;
    replies_[who] = std::move(got);
    changed_.set();
  }
  [[nodiscard]] const tally& count() const noexcept { return count_; }
  /// What each has said; nothing: not yet.
  [[nodiscard]] std::vector<std::optional<storage::answer<T>>>& replies() noexcept { return replies_; }

  /// Until the rule can tell; open: the limit came first.
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
