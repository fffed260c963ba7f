#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "redis/protocol/link.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/clock.hpp"
#include "runtime/loop.hpp"
#include "runtime/small_mutex.hpp"

namespace holdfast::redis {

/// A connection for callers that block. Whoever finds it idle does its own I/O. When several want it at once they
/// combine: one drives, all that is ready goes out in one write; the driver hands out the others' replies, and lets
/// another drive when its own is there.
class lane {
 public:
  /// `in_doubt` is called when the connection breaks, also while nobody uses it: the loop keeps an eye on it.
  lane(const dialer& d, runtime::loop& loop, std::function<void()> in_doubt)
      : dialer_(d), loop_(loop), in_doubt_(std::move(in_doubt)) {}
  ~lane() { hang_up(); }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// `left` is the number of the connection if the command stays there without us, or was lost with it.
  [[nodiscard]] reply call(const command&, const limit&, std::optional<std::uint64_t>& left);
  /// Sends it on that connection behind all that was sent before, unless that is gone.
  void follow(std::uint64_t connection, const command&) noexcept;

  /// Whether it has a connection that the next caller can use, as far as is known.
  [[nodiscard]] bool is_open() const noexcept;
  /// How many are in it; who wants to call says so first.
  std::atomic<unsigned> callers{0};
  /// Closes the connection, if nobody has used it since then and nobody does now. False: it is open.
  bool close_if_idle_since(runtime::instant) noexcept;
  /// The next caller opens a new connection. Callers that wait for replies on this one fail for this reason.
  void distrust(const storage::failure& why) noexcept;

 private:
  /// One that waits for its reply, on its caller's stack.
  struct slot : pending_reply {
    using pending_reply::pending_reply;
    bool drives = false;
    std::optional<std::uint64_t> lost_with;  // the connection that broke; the command may have been carried out
    slot* next = nullptr;
  };
  /// Whose replies are there. They are called when it goes, which is when the lock is free again: they will want it.
  class to_be_called {
   public:
    to_be_called() = default;
    to_be_called(const to_be_called&) = delete;
    to_be_called& operator=(const to_be_called&) = delete;
    ~to_be_called();
    void add(slot&) noexcept;

   private:
    slot* first_ = nullptr;
    slot** last_ = &first_;
  };
  void queue(const command&, slot*);
  [[nodiscard]] reply drive(slot& mine, bool found_idle, const limit&, std::optional<std::uint64_t>& left);
  [[nodiscard]] bool serve(const slot& mine, const limit&);
  [[nodiscard]] bool give_up(runtime::instant too_long) const;
  void replace_if_bad();
  void make_sure_of_connection(const limit&);
  [[nodiscard]] bool still_good();
  void hang_up() noexcept;
  void hand_out();
  [[nodiscard]] std::uint64_t leave(slot& mine, bool drove);
  void let_another_drive();
  void send_what_is_left() noexcept;
  void fail_all(const storage::failure&) noexcept;
  [[nodiscard]] reply no_answer() const;

  const dialer& dialer_;
  runtime::loop& loop_;
  const std::function<void()> in_doubt_;

  // Of whoever drives.
  std::unique_ptr<connection> connection_;
  std::string sending_;
  std::atomic<bool> open_{false};         // there is one
  std::atomic<bool> gone_{false};         // the other side has closed it
  std::atomic<std::uint64_t> number_{0};  // of the connection: this one, or the next

  mutable runtime::small_mutex mutex_;
  // Under the lock.
  pipeline pipeline_;  // all its waiters are slots
  bool driven_ = false;
  std::optional<storage::failure> distrusted_;
  runtime::instant used_{};          // last
  runtime::instant silent_since_{};  // replies are due since then, and none came
};

}  // namespace holdfast::redis
