#pragma once
#include <optional>

#include "core/request.hpp"
#include "core/retry.hpp"
#include "core/silence.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

/// Decides how an acquire continues after each answer of the store. It does no I/O and never waits: its driver,
/// engine::ask_store(), performs each step and reports how it ended.
class acquisition {
 public:
  enum class step {
    poll,        ///< poll the claim
    wait,        ///< another client holds the lock: wait for the claim's wakeup
    unanswered,  ///< call on_unanswered() with a random pause
    pause,       ///< wait until pause_ends(), or until the store is back
    granted,     ///< the lock is ours
    leave,       ///< give up; end() says why
  };
  /// `store_answers`: the store has answered another caller of this process while this one was in the local queue.
  acquisition(const request&, span patience, silence&, bool store_answers);

  /// A poll is sent now. Returns until when to wait for its reply.
  [[nodiscard]] instant on_send(instant now);
  /// `stopped`: the caller was asked to stop. Moves the failure out of an unknown answer.
  [[nodiscard]] step on_answer(storage::answer<storage::grant>&, instant now, bool stopped);
  [[nodiscard]] step on_unanswered(instant now, span pause);
  [[nodiscard]] step on_wakeup(runtime::wake);
  [[nodiscard]] step on_pause(runtime::wake, instant now);
  [[nodiscard]] step on_error(storage::failure);

  [[nodiscard]] bool silent() const noexcept { return silent_since_.has_value(); }  ///< the last polls got no answer
  [[nodiscard]] unsigned tries() const noexcept { return tries_; }  ///< polls without an answer before the last one
  [[nodiscard]] instant pause_ends() const noexcept { return pause_ends_; }
  /// The failure to report while the store is silent.
  [[nodiscard]] const storage::failure& failure() const noexcept { return *failure_; }
  [[nodiscard]] bool out_of_patience() const noexcept { return out_of_patience_; }
  /// The store may know the claim, which has to be released.
  [[nodiscard]] bool may_be_known() const noexcept { return may_be_known_; }
  [[nodiscard]] outcome& end() noexcept { return end_; }  ///< never granted

 private:
  [[nodiscard]] step on_no(const storage::busy&);
  [[nodiscard]] step on_unknown(storage::failure, instant now);
  [[nodiscard]] step leave_unanswered(instant now);
  [[nodiscard]] step leave(outcome);

  const instant last_;  // when the caller's limit ends
  const span patience_;
  const bool one_look_, bounded_, needs_answer_;
  silence& silence_;

  unsigned tries_ = 0;
  instant sent_{};       // the poll that is under way,
  instant reply_due_{};  // and until when its reply is waited for
  instant pause_ends_{};
  std::optional<instant> silent_since_;
  instant unanswered_since_{};  // by any call of this process
  last_error error_;
  std::optional<storage::failure> failure_;
  bool out_of_patience_ = false;
  bool store_answers_;  // the store has said *busy* to this process
  span slow_reply_;     // a reply that takes longer than this is worth reporting
  bool may_be_known_ = false;
  outcome end_ = outcome::busy();
};

/// The usual time for a reply. A limit that ends earlier says nothing about the store.
constexpr span usual_reply = std::chrono::milliseconds(20);

}  // namespace holdfast::core
