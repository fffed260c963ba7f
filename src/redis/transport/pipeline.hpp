#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "redis/protocol/codec.hpp"
#include "redis/protocol/transport.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::redis {

/// A caller's wait for the reply to its command. If the command wants several replies, they come as one list. The
/// connection wakes it, because it knows when the caller may run.
class pending_reply : public runtime::list_waiter {
 public:
  explicit pending_reply(const command& c) noexcept : wanted_(c.wanted()) {}

  std::optional<reply> got;

 private:
  friend class pipeline;
  void add(value);
  const std::size_t wanted_;
  value all_;
};

/// The commands of one connection whose replies are due. A server answers in order, so the first reply belongs to the
/// first of them. It has no I/O and no lock.
class pipeline {
 public:
  /// Puts a command behind all others. The waiter must exist until its reply is complete, fails, or is abandoned; with
  /// a null waiter the reply is dropped. Changes nothing if it throws std::bad_alloc.
  void add(const command&, pending_reply* waiter);
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_bytes_.empty(); }
  /// Moves the bytes of all commands that were not sent yet to the end of `bytes`.
  void take_unsent(std::string& bytes);
  /// Forgets commands that were not sent yet. No caller may wait for them.
  void drop_unsent() noexcept;

  /// Takes the next value from the server. Returns the waiter whose reply it completes, if any. Throws malformed if no
  /// reply is due.
  [[nodiscard]] pending_reply* take(value);
  /// The waiter leaves. Its reply is dropped when it comes.
  void abandon(const pending_reply&) noexcept;
  /// Ends all waits with this failure and forgets all commands. `on_failed` is called for each waiter, with whether its
  /// command was sent, so that the server may have carried it out. The waiter may be gone after that.
  template <class F>
  void fail_all(const storage::failure& why, F on_failed) noexcept {
    unsent_bytes_.clear();
    for (; !due_.empty(); due_.pop_front()) {
      pending_reply* const waiter = due_.front().waiter;
      if (waiter == nullptr) continue;
      waiter->got = copy_of(why);
      on_failed(*waiter, due_.size() > unsent_);
    }
    unsent_ = 0;
  }

  [[nodiscard]] bool empty() const noexcept { return due_.empty(); }  ///< no reply is due
  /// Returns null if every reply that is due will be dropped.
  [[nodiscard]] pending_reply* first_waiter() const noexcept;
  [[nodiscard]] bool starts_abandoned() const noexcept { return !due_.empty() && due_.front().waiter == nullptr; }
  /// Forgets the abandoned commands before the first one with a waiter. Their connection is closed.
  void drop_abandoned() noexcept;
  /// Forgets everything. No caller may wait.
  void clear() noexcept;

 private:
  struct entry {
    pending_reply* waiter;  // null: the replies are dropped
    std::size_t replies;    // that are still due; the last ones are wanted
  };
  std::deque<entry> due_;
  std::string unsent_bytes_;
  std::size_t unsent_ = 0;  // how many commands of due_, the last ones, are in unsent_bytes_
};

}  // namespace holdfast::redis
